// Where a buyer may be led to, and what the shop can verify of it.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { howto } from '../../src/guides/howto.ts';
import { returnUrl, signReturn } from '../../src/return-signature.ts';
import { hostEntry, returnAddress, webAddress } from '../../src/return-url.ts';
import { verifies } from '../requirements.ts';

const hosts = ['shop.example', 'shop.example:8443', 'xn--bcher-kva.example', 'localhost:3000', '127.0.0.1'];
const strict = { hosts, loopback: false };

describe('an address that a buyer returns to', () => {
  test.each([
    ['https://shop.example/thanks?order=1#top', 'https://shop.example/thanks?order=1#top'],
    ['HTTPS://SHOP.EXAMPLE', 'https://shop.example/'],
    ['https://shop.example:443/', 'https://shop.example/'],
    ['https://shop.example:8443/', 'https://shop.example:8443/'],
    ['https://bücher.example/ä b', 'https://xn--bcher-kva.example/%C3%A4%20b'],
  ])('%s is allowed', (text, href) => {
    expect(returnAddress(text, strict)).toMatchObject({ href });
  });

  test.each([
    'http://shop.example/',
    'http://localhost:3000/',
    'https://evil.example/',
    'https://shop.example.evil.example/',
    'https://evil.example/?https://shop.example/',
    'https://evil.example#@shop.example/',
    'https://shop.example@evil.example/',
    'https://shop.example:pass@shop.example/',
    'https://user@shop.example/',
    'https://shop.example:9443/',
    'https://shop.example./',
    'https://sub.shop.example/',
    'https:\\\\evil.example\\@shop.example/',
    'https://evil.example\\.shop.example/',
    'https://evil.example\t.shop.example/',
    '//shop.example/',
    '/thanks',
    'shop.example',
    'javascript:alert(1)//shop.example',
    'data:text/html,shop.example',
    'ftp://shop.example/',
    ' ',
    `https://shop.example/${'a'.repeat(2048)}`,
    `https://shop.example/${'ä'.repeat(1000)}`,
  ])('%s is refused', (text) => {
    verifies('return-hosts');
    expect(returnAddress(text, strict)).toEqual(expect.any(String));
  });

  test('to one’s own machine goes over http where no real money moves, and only there', () => {
    const loose = { hosts: [...hosts, 'shop.test', '[::1]:3000'], loopback: true };
    for (const text of ['http://localhost:3000/done', 'http://127.0.0.1/', 'http://[::1]:3000/'])
      expect(returnAddress(text, loose), text).toMatchObject({ href: text });
    for (const text of ['http://shop.example/', 'http://shop.test/', 'http://localhost.shop.example/'])
      expect(returnAddress(text, loose), text).toEqual(expect.any(String));
    expect(webAddress('http://localhost:3000/', { loopback: false })).toEqual(expect.any(String));
  });

  test('a host is listed as it is compared, and nothing else is a host', () => {
    expect(
      ['Shop.Example', 'bücher.example', 'shop.example:443', 'shop.example:8443'].map(hostEntry),
    ).toEqual(['shop.example', 'xn--bcher-kva.example', 'shop.example', 'shop.example:8443']);
    const none = [
      '',
      '*',
      '*.example',
      'https://a.example',
      'a.example/',
      'a@b.example',
      'a b',
      'a?b',
      'a#b',
      'a\\b',
      ':80',
    ];
    expect(none.map(hostEntry)).toEqual(none.map(() => null));
  });
});

describe('the signature of a return', () => {
  const about = { invoice_id: '0190f7a0-0000-7000-8000-000000000001', status: 'confirmed' } as const;
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

  test('is that of the test vector in the guide', () => {
    verifies('return-signature');
    const vector = signReturn(about, secret);
    const expected = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`return.v1.${about.invoice_id}.confirmed`)
      .digest('base64url');
    expect(vector).toBe(expected);
    const guide = howto.find(({ id }) => id === 'guide.return')?.docs ?? '';
    for (const part of [secret, about.invoice_id, vector]) expect(guide).toContain(part);
  });

  test('is verified by the function in the guide, which nothing else passes', () => {
    const guide = howto.find(({ id }) => id === 'guide.return')?.docs ?? '';
    const code = /```js\n([\s\S]*?)```/.exec(guide)?.[1]?.replace(/^import .*$/m, '') ?? '';
    const verify = new Function('createHmac', 'timingSafeEqual', `${code}; return verifyReturn;`)(
      createHmac,
      timingSafeEqual,
    ) as (secret: string, url: string) => { invoice_id: string; status: string } | null;
    const url = returnUrl('https://shop.example/thanks?order=1', about, [secret]);
    expect(verify(secret, url)).toEqual({ invoice_id: about.invoice_id, status: 'confirmed' });
    const both = returnUrl('https://shop.example/', about, ['whsec_bmV3', secret]);
    expect(verify(secret, both)).not.toBeNull();
    for (const changed of [
      url.replace('confirmed', 'expired'),
      url.replace('000001', '000002'),
      url.replace(/signature=..../, 'signature=AAAA'),
      url.replace(/&signature=.*/, ''),
      url.replace(/signature=.*/, 'signature='),
      url.replace(/signature=.*/, 'signature=..'),
    ])
      expect(verify(secret, changed), changed).toBeNull();
    expect(verify('another secret', url)).toBeNull();
  });

  test('replaces what the address had under its names, and leaves the rest', () => {
    const url = new URL(
      returnUrl(
        'https://shop.example/?a=1&invoice_id=x&signature=y&signature=z&invoice_status=w#/done',
        about,
        [],
      ),
    );
    expect([...url.searchParams]).toEqual([
      ['a', '1'],
      ['invoice_id', about.invoice_id],
      ['invoice_status', 'confirmed'],
    ]);
    expect(url.hash).toBe('#/done');
  });
});
