// The pages that mails link to: in every language, under a strict policy, and what they say of each answer.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LanguageCode, languageOf, languages } from '../../../daemon/checkout/language.ts';
import { issueEmailToken, issueRecoveryToken } from '../../../daemon/http/tokens.ts';
import type { Serving } from '../../../daemon/process/serve.ts';
import { getUser, updateUser } from '../../../data/users.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { describeInBrowser, listen, useBrowser } from '../../helpers/browser.ts';

const codes = Object.keys(languages) as LanguageCode[];

describe('the page that sets a password', () => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp();
  });
  afterAll(() => service.stop());

  test.each(codes)('speaks %s where the browser asks for it', async (code) => {
    const headers = { 'accept-language': `${code};q=0.9, xx` };
    const page = await service.fetch('GET', '/reset-password?token=abc', { headers });
    const { dir, say } = languageOf(code);
    expect(page.text).toContain(`<html lang="${code}" dir="${dir}">`);
    for (const name of ['password_title', 'password_label', 'password_save', 'password_done'] as const)
      expect(page.text).toContain(say(name));
    expect(page.headers.get('vary')).toContain('accept-language');
  });

  test('runs its own script and style only, shows no picture, and sends no form without the script', async () => {
    const page = await service.fetch('GET', '/reset-password?token=abc');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.text).not.toMatch(/\ssrc=|<link|\sstyle=|\son[a-z]+=/);
  });
});

describe('the page that confirms an address', () => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp();
  });
  afterAll(() => service.stop());

  test.each(codes)('speaks %s where the browser asks for it', async (code) => {
    const page = await service.fetch('GET', '/confirm-email?token=abc', {
      headers: { 'accept-language': code },
    });
    const { dir, say } = languageOf(code);
    expect(page.text).toContain(`<html lang="${code}" dir="${dir}">`);
    for (const name of ['email_title', 'email_text', 'email_confirm', 'email_done'] as const)
      expect(page.text).toContain(say(name));
  });

  test('carries the token and nothing else of the address, under a policy without forms', async () => {
    const page = await service.fetch('GET', '/confirm-email?token=abc.DEF-1_2');
    expect(page.text).toContain('name="token" value="abc.DEF-1_2"');
    expect(page.headers.get('content-security-policy')).toContain("form-action 'none'");
    for (const behind of ['.', ')', '%20', ').'])
      expect((await service.fetch('GET', `/confirm-email?token=abc.DEF-1_2${behind}`)).text).toContain(
        'name="token" value="abc.DEF-1_2"',
      );
    const hostile = await service.fetch('GET', `/confirm-email?token=${encodeURIComponent('"><script>')}`);
    expect(hostile.text).toMatch(/name="token" value(="")?\/>/);
  });
});

describeInBrowser('the pages of links, in a browser', () => {
  const browser = useBrowser();
  let service: TestApp;
  let serving: Serving;
  beforeAll(async () => {
    service = await startApp();
    serving = await listen(service);
  });
  afterAll(async () => {
    await serving.stop();
    await service.stop();
  });

  async function open(token: string, locale: string) {
    const context = await browser.open({ locale });
    const page = await context.newPage();
    await page.goto(`${serving.url}/reset-password?token=${token}`);
    const save = async (password: string) => {
      await page.locator('[data-message]').evaluate((message) => {
        message.setAttribute('hidden', '');
      });
      await page.locator('input[type=password]').fill(password);
      await page.locator('button').click();
      await page.locator('[data-message]:not([hidden])').waitFor();
      return page.locator('[data-message]').textContent();
    };
    return { page, save, close: () => context.close() };
  }

  test('takes the token out of the address, sets the password once, and then refuses the link', async () => {
    const merchant = await service.merchant();
    const row = await getUser(service.app.db.query, merchant.id);
    if (!row) throw new Error('no such user');
    const token = await issueRecoveryToken(service.app, row);
    const first = await open(token, 'de-DE');
    expect(first.page.url()).toBe(`${serving.url}/reset-password`);
    expect(await first.save('a new long password')).toBe(languages.de.password_done);
    expect(await first.page.locator('form').isVisible()).toBe(false);
    await first.close();
    const second = await open(token, 'ar');
    expect(await second.save('another long password')).toBe(languages.ar.password_invalid);
    expect(await second.page.getAttribute('html', 'dir')).toBe('rtl');
    expect(await second.page.locator('form').isVisible()).toBe(true);
    await second.close();
  });

  test('confirms an address when its button is pressed, and says so', async () => {
    const { id } = await service.merchant();
    const { query } = service.app.db;
    await updateUser(query, id, { pending_email: 'new@example.com' });
    const context = await browser.open({ locale: 'fr-FR' });
    const page = await context.newPage();
    const token = await issueEmailToken(service.app, { id, token_version: 1 }, 'new@example.com');
    await page.goto(`${serving.url}/confirm-email?token=${token}`);
    expect((await getUser(query, id))?.pending_email).toBe('new@example.com');
    await page.locator('button').click();
    await page.locator('[data-message]:not([hidden])').waitFor();
    expect(await page.locator('[data-message]').textContent()).toBe(languages.fr.email_done);
    expect((await getUser(query, id))?.email).toBe('new@example.com');
    await context.close();
  });

  test('says what is wrong with the password, and when the service cannot be reached', async () => {
    const { page, save, close } = await open('abc', 'en-US');
    await page.locator('input[type=password]').evaluate((input) => {
      input.removeAttribute('minlength');
    });
    expect(await save('short')).toMatch(/^The password must be \d+ to \d+ characters long\.$/);
    await page.route('**/api/v1/reset-password/', (route) => route.abort());
    expect(await save('a new long password')).toBe(languages.en.try_later);
    await close();
  });
});
