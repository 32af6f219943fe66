// Mail goes through the configured server, or into files that only this user can read.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type LanguageCode, languageOf, languages } from '../../../daemon/checkout/language.ts';
import { openMail } from '../../../daemon/mail/mail.ts';
import {
  changedEmail,
  confirmationEmail,
  encodedHeader,
  recoveryEmail,
  testEmail,
} from '../../../daemon/mail/templates.tsx';
import { createLog } from '../../../daemon/process/log.ts';
import { smtpServer } from '../../helpers/smtp.ts';

const BASE = 'https://pay.example.com';
const english = languageOf('en');
const codes = Object.keys(languages) as LanguageCode[];
const clock = { ms: () => Date.UTC(2026, 10, 20, 12) };

function open(settings: { smtp_url?: string; mail_from?: string }) {
  const data_dir = mkdtempSync(join(tmpdir(), 'gatewayd-mail-'));
  const lines: string[] = [];
  const log = createLog({ level: 'debug', sink: { write: (line) => lines.push(line) } });
  const mail = openMail({ config: { data_dir, public_url: BASE, ...settings }, log, clock });
  onTestFinished(() => {
    mail.close();
    rmSync(data_dir, { recursive: true, force: true });
  });
  return { mail, data_dir, lines };
}

test('a configured server is given the mail, in both forms, from the configured sender', async () => {
  const server = await smtpServer();
  const { mail, data_dir } = open({ smtp_url: server.url, mail_from: 'Shop <pay@shop.example.com>' });
  await mail.send(testEmail({ base: BASE, to: 'ada@example.com', lang: english }));
  expect(server.envelopes).toEqual([{ from: 'pay@shop.example.com', to: ['ada@example.com'] }]);
  const [sent = ''] = server.mails;
  expect(sent).toContain('From: Shop <pay@shop.example.com>');
  expect(sent).toContain('Subject: Test email');
  expect(sent).toContain('Date: Fri, 20 Nov 2026 12:00:00 +0000');
  expect(sent).toMatch(/Content-Type: text\/plain[\s\S]*Content-Type: text\/html/);
  expect(existsSync(join(data_dir, 'outbox'))).toBe(false);
});

test('a refusal of the server reaches the caller', async () => {
  const server = await smtpServer('unknown user');
  const { mail } = open({ smtp_url: server.url });
  const refused = mail.send(testEmail({ base: BASE, to: 'absent@example.com', lang: english }));
  await expect(refused).rejects.toThrow('550 unknown user');
});

test('without a server each mail is a file of its own that only this user can read, named in the log', async () => {
  const { mail, data_dir, lines } = open({});
  await Promise.all(
    [1, 2, 3].map((n) => mail.send(testEmail({ base: BASE, to: `user${n}@example.com`, lang: english }))),
  );
  const outbox = join(data_dir, 'outbox');
  const files = readdirSync(outbox);
  expect(files).toHaveLength(3);
  expect(statSync(outbox).mode & 0o777).toBe(0o700);
  for (const file of files) {
    expect(file).toMatch(/^2026-11-20T12-00-00-000Z-[0-9a-f]{8}\.eml$/);
    expect(statSync(join(outbox, file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(outbox, file), 'utf8')).toContain('From: gatewayd <no-reply@pay.example.com>');
    expect(lines.filter((line) => line.includes(file))).toHaveLength(1);
  }
});

test('an address that holds a line break adds no header and no second recipient', async () => {
  const server = await smtpServer();
  const { mail } = open({ smtp_url: server.url });
  const to = 'ada@example.com\r\nBcc: victim@example.com';
  await mail.send(testEmail({ base: BASE, to: to, lang: english })).catch(() => undefined);
  expect(server.envelopes.flatMap(({ to: recipients }) => recipients)).not.toContain('victim@example.com');
  expect(server.mails.join('\n')).not.toMatch(/^Bcc:/m);
});

test('the recovery mail says the same in text and in HTML, and markup in an address stays text', () => {
  const to = '<b>&"ada"@example.com';
  const email = recoveryEmail({ base: BASE, to, token: 'token.of-1', lang: english });
  const link = `${BASE}/reset-password?token=token.of-1`;
  expect(email.text).toContain(link);
  expect(email.html).toContain(`href="${link}"`);
  for (const body of [email.text, email.html]) {
    expect(body).toContain('expires after 48 hours');
    expect(body).toContain('ignore this email');
  }
  expect(email.html).not.toContain('<b>');
  expect(email.html).toContain('&lt;b>&amp;&quot;ada&quot;@example.com');
});

test('a mail is written in the language of its reader, from right to left where that is so', () => {
  const mails = codes.map((code) => {
    const lang = languageOf(code);
    const email = recoveryEmail({ base: BASE, to: 'ada@example.com', token: 'token', lang });
    expect(email.html).toContain(`<html lang="${code}" dir="${lang.dir}">`);
    for (const body of [email.text, email.html]) {
      expect(body, code).toContain(lang.number(48));
      expect(body, code).toContain('ada@example.com');
    }
    return email.text.replace(lang.say('password_title'), '');
  });
  expect(new Set(mails).size).toBe(codes.length);
});

test('the mail that proves an address has the link and says what it is for, in each language', () => {
  const mails = codes.map((code) => {
    const lang = languageOf(code);
    const email = confirmationEmail({ base: BASE, to: 'ada@example.com', token: 'token.of-1', lang });
    expect(email.subject).toBe(lang.say('email_title'));
    expect(email.html).toContain(`<html lang="${code}" dir="${lang.dir}">`);
    for (const body of [email.text, email.html])
      for (const part of [`${BASE}/confirm-email?token=token.of-1`, 'ada@example.com', lang.number(48)])
        expect(body, code).toContain(part);
    return email.text;
  });
  expect(new Set(mails).size).toBe(codes.length);
});

test('the mail that says that a way in has changed says which, and of what account, in each language', () => {
  const mails = codes.flatMap((code) =>
    (['email', 'password', 'key'] as const).map((what) => {
      const email = changedEmail({ base: BASE, to: 'ada@example.com', lang: languageOf(code), what });
      for (const body of [email.text, email.html])
        for (const part of [BASE, 'ada@example.com']) expect(body, code).toContain(part);
      return email.text;
    }),
  );
  expect(new Set(mails).size).toBe(3 * codes.length);
});

test('a mail loads nothing', () => {
  for (const email of [
    recoveryEmail({ base: BASE, to: 'ada@example.com', token: 'token', lang: english }),
    testEmail({ base: BASE, to: 'ada@example.com', lang: english }),
  ])
    expect(email.html).not.toMatch(/\ssrc=|<link|url\(|@import|<script/);
});

test('a subject that is not ASCII goes into a header as an encoded word', () => {
  expect(encodedHeader('Set a new password')).toBe('Set a new password');
  expect(encodedHeader('Новый пароль')).toBe('=?UTF-8?B?0J3QvtCy0YvQuSDQv9Cw0YDQvtC70Yw=?=');
});
