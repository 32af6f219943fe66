/** @jsxImportSource preact */
// The mails that the daemon writes, each as plain text and as HTML, in the language of its reader.
import { renderToString } from 'preact-render-to-string';
import type { Language } from '../checkout/language.ts';
import { palette } from '../checkout/styles/palette.ts';
import { RECOVERY_SECONDS } from '../http/tokens.ts';
import type { Email } from './mail.ts';

const RECOVERY_HOURS = RECOVERY_SECONDS / 3600;

const FONT = 'system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif';

/** One paragraph per entry; a link stands alone, with its whole address to be copied. */
type Paragraph = string | { link: string; label: string };

interface Content {
  to: string;
  lang: Language;
  subject: string;
  paragraphs: readonly Paragraph[];
}

/** Mail programs know neither custom properties nor, in part, style sheets: colours stand at each element. */
const { light, dark } = palette;

/** For the programs that do: what is written at an element gives way to `!important`. */
const DARK_SHEET = `@media (prefers-color-scheme:dark){
.back{background:${dark.back}!important}
.card{background:${dark.card}!important;border-color:${dark.line}!important;color:${dark.ink}!important}
.button{background:${dark.accent}!important;color:${dark.on}!important}
.soft{color:${dark.soft}!important}
}`;

/** Of a mail that is shown as a page: its colours stand at each element, and nothing else may run or load. */
export const MAIL_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

function compose({ to, lang, subject, paragraphs }: Content): Email {
  const text = paragraphs.map((each) => (typeof each === 'string' ? each : `${each.label}:\n${each.link}`));
  const html = renderToString(
    <html lang={lang.code} dir={lang.dir}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <title>{subject}</title>
        <style>{DARK_SHEET}</style>
      </head>
      <body
        class="back"
        style={{ margin: 0, padding: '24px 12px', background: light.back, font: `16px/1.5 ${FONT}` }}
      >
        <main
          class="card"
          style={{
            maxWidth: '560px',
            margin: '0 auto',
            padding: '24px',
            border: `1px solid ${light.line}`,
            borderRadius: '16px',
            background: light.card,
            color: light.ink,
          }}
        >
          <h1 style={{ margin: '0 0 16px', fontSize: '20px', lineHeight: 1.35 }}>{subject}</h1>
          {paragraphs.map((each) =>
            typeof each === 'string' ? (
              <p key={each} style={{ margin: '0 0 16px' }}>
                {each}
              </p>
            ) : (
              <Link key={each.link} {...each} />
            ),
          )}
        </main>
      </body>
    </html>,
  );
  return { to, subject, text: `${text.join('\n\n')}\n`, html: `<!doctype html>${html}` };
}

const Link = ({ link, label }: { link: string; label: string }) => (
  <>
    <p style={{ margin: '0 0 16px' }}>
      <a
        class="button"
        href={link}
        style={{
          display: 'inline-block',
          padding: '12px 20px',
          borderRadius: '12px',
          background: light.accent,
          color: light.on,
          fontWeight: 600,
          textDecoration: 'none',
        }}
      >
        {label}
      </a>
    </p>
    <p
      class="soft"
      dir="ltr"
      style={{ margin: '0 0 16px', color: light.soft, fontSize: '13px', wordBreak: 'break-all' }}
    >
      {link}
    </p>
  </>
);

/** Where a recovery token is turned into a new password. `base` is the public URL. */
const resetUrl = (base: string, token: string): string => `${base}/reset-password?token=${token}`;

/** Where a token proves the address that it was mailed to. */
const confirmUrl = (base: string, token: string): string => `${base}/confirm-email?token=${token}`;

export interface LinkOptions {
  /** The public URL. */
  base: string;
  /** The address that is written to. */
  to: string;
  token: string;
  lang: Language;
}

/** The mail of password recovery; `token` works once, within 48 hours. */
export function recoveryEmail({ base, to, token, lang }: LinkOptions): Email {
  const subject = lang.say('password_title');
  return compose({
    to,
    lang,
    subject,
    paragraphs: [
      lang.say('recovery_asked', { email: to, site: base }),
      { label: subject, link: resetUrl(base, token) },
      lang.say('recovery_valid', { n: lang.number(RECOVERY_HOURS) }),
      lang.say('recovery_ignore'),
    ],
  });
}

/** The mail that proves an address; `token` works once, within 48 hours. */
export function confirmationEmail({ base, to, token, lang }: LinkOptions): Email {
  const subject = lang.say('email_title');
  return compose({
    to,
    lang,
    subject,
    paragraphs: [
      lang.say('email_asked', { email: to, site: base }),
      { label: subject, link: confirmUrl(base, token) },
      lang.say('recovery_valid', { n: lang.number(RECOVERY_HOURS) }),
      lang.say('email_ignore'),
    ],
  });
}

/** Each a way into an account. */
export type Credential = 'email' | 'password' | 'key';

/** The mail that tells someone that a way into his account has changed; `to` is the address that knew of the former one. */
export function changedEmail({
  base,
  to,
  lang,
  what,
}: Omit<LinkOptions, 'token'> & { what: Credential }): Email {
  return compose({
    to,
    lang,
    subject: lang.say('changed_title'),
    paragraphs: [
      lang.say(`changed_${what}`, { email: to, site: base }),
      lang.say('changed_alarm', { site: base }),
    ],
  });
}

/** The mail that shows an operator that mail works. */
export function testEmail({ base, to, lang }: Omit<LinkOptions, 'token'>): Email {
  const subject = lang.say('test_mail_title');
  return compose({ to, lang, subject, paragraphs: [lang.say('test_mail_text', { site: base })] });
}

/** A notice to an operator; `lines` say what happened, each one thing. */
export function noticeEmail({
  base,
  to,
  lang,
  subject,
  lines,
}: Omit<LinkOptions, 'token'> & { subject: string; lines: readonly string[] }): Email {
  return compose({ to, lang, subject, paragraphs: [...lines, base] });
}

/** What a buyer has paid, and where the receipt is. */
export function receiptEmail({
  to,
  lang,
  merchant,
  lines,
  link,
}: {
  to: string;
  lang: Language;
  merchant: string;
  /** Each one thing, for people. */
  lines: readonly string[];
  link: string;
}): Email {
  const subject = lang.say('receipt_from', { merchant });
  return compose({ to, lang, subject, paragraphs: [...lines, { link, label: lang.say('receipt') }] });
}

/** A subject as a header may carry it: ASCII as it is, anything else as an encoded word (RFC 2047). */
export const encodedHeader = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;
