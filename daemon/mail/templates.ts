// The letters the daemon writes, each as plain text and as HTML.
import { RECOVERY_SECONDS } from '../http/tokens.ts';
import type { Letter } from './mail.ts';

const RECOVERY_HOURS = RECOVERY_SECONDS / 3600;

/** Characters that HTML would read as markup. */
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** One paragraph per entry; a link stands on its own, with its whole address to be copied. */
type Paragraph = string | { link: string; label: string };

function letter(to: string, subject: string, paragraphs: readonly Paragraph[]): Letter {
  const text = paragraphs.map((each) => (typeof each === 'string' ? each : `${each.label}:\n${each.link}`));
  const html = paragraphs.map((each) => {
    if (typeof each === 'string') return `<p>${escapeHtml(each)}</p>`;
    const url = escapeHtml(each.link);
    return `<p><a href="${url}" style="display:inline-block;padding:10px 18px;background:#1a5fb4;color:#ffffff;border-radius:6px;text-decoration:none">${escapeHtml(each.label)}</a></p>
<p style="color:#57606a;font-size:13px;word-break:break-all">${url}</p>`;
  });
  return {
    to,
    subject,
    text: `${text.join('\n\n')}\n`,
    html: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(subject)}</title></head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif;color:#1f2328;background:#ffffff">
<main style="max-width:560px;margin:0 auto">
<h1 style="font-size:20px">${escapeHtml(subject)}</h1>
${html.join('\n')}
</main>
</body>
</html>
`,
  };
}

/** Where a recovery token is turned into a new password. `base` is the public URL. */
const resetUrl = (base: string, token: string): string => `${base}/reset-password?token=${token}`;

/** The mail of password recovery; `token` works once, within 48 hours. */
export function recoveryLetter(base: string, email: string, token: string): Letter {
  return letter(email, 'Set a new password', [
    `Someone, probably you, asked for a new password of the account ${email} at ${base}.`,
    { label: 'Set a new password', link: resetUrl(base, token) },
    `The link works once, within ${RECOVERY_HOURS} hours.`,
    'If you did not ask for it, ignore this mail: your password stays as it is.',
  ]);
}

/** The mail that shows an operator that mail works. */
export function testLetter(base: string, to: string): Letter {
  return letter(to, 'Test mail', [`This mail was sent by the gateway at ${base}.`, 'Sending mail works.']);
}
