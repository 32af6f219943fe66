// Every answer that is HTML, in whichever way it came about, carries a policy that lets nothing foreign run or load.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Reply } from '../helpers/app.ts';
import { ABSENT_ID } from '../helpers/people.ts';
import { verifies } from '../requirements.ts';
import { type Cast, described, exampleCall, openWorld, rightful, type World } from './world.ts';

let world: World;
let cast: Cast;
beforeAll(async () => {
  world = await openWorld();
  cast = await world.cast();
});
afterAll(() => world.stop());

const pages = described.filter(({ response }) => 'media' in response && response.media === 'text/html');

function expectPolicy({ headers, text }: Reply, of: string): void {
  const policy = headers.get('content-security-policy') ?? '';
  for (const part of ["default-src 'none'", "base-uri 'none'", 'form-action ', 'frame-ancestors '])
    expect(policy, of).toContain(part);
  expect(policy, of).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline|script-src[^;]*https?:/);
  // What stands in the page is what the policy lets run.
  for (const [, kind, content = ''] of text.matchAll(/<(style|script)>([\s\S]*?)<\/\1>/g)) {
    const hash = createHash('sha256').update(content).digest('base64');
    const isMail = kind === 'style' && policy.includes("style-src 'unsafe-inline'");
    expect(isMail || policy.includes(`'sha256-${hash}'`), `${kind} of ${of}`).toBe(true);
  }
}

test('there are pages, fragments, the mail, and redirects among them', () => {
  const ids = pages.map(({ id }) => id);
  expect(ids).toEqual(
    expect.arrayContaining([
      'payShort',
      'payPage',
      'payDiv',
      'unitShort',
      'unitPage',
      'unitDiv',
      'buyOnPage',
      'cancelOnPage',
      'getResetPage',
      'recoverPasswordHtml',
      'getDocs',
      'getRedoc',
    ]),
  );
});

test.each(pages.map((endpoint) => [endpoint.id, endpoint] as const))(
  '%s carries it, found or not, in any size',
  async (id, endpoint) => {
    verifies('html-policy');
    const html = { accept: 'text/html' };
    const call = exampleCall(endpoint, cast.values);
    const absent = exampleCall(endpoint, {
      ...cast.values,
      invoice_id: ABSENT_ID,
      unit_id: ABSENT_ID,
      unit_slug: 'absent',
    });
    const widths = endpoint.query && 'width' in endpoint.query ? ['?width=400', '?size=mobile'] : [''];
    for (const { method, path, headers, ...rest } of [call, absent])
      for (const query of widths) {
        const target = query === '' ? path : `${path.split('?')[0]}${query}`;
        const who = rightful(endpoint.auth, cast);
        const reply = await world.service.fetch(method, target, {
          ...rest,
          ...who,
          headers: { ...html, ...headers },
        });
        const isHtml = reply.headers.get('content-type')?.startsWith('text/html') ?? false;
        if (isHtml) expectPolicy(reply, `${id} ${target}`);
        else expect(reply.status, `${id} ${target}`).toBeGreaterThanOrEqual(400);
      }
  },
);
