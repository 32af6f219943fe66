// Addresses that buyers may be led to: checked when they are written, and once more when a page shows them.
import { Refusal } from '../../src/errors.ts';
import { hostEntry, type LinkRules, returnAddress, webAddress } from '../../src/return-url.ts';
import type { ReturnSettings } from '../../src/shop.ts';
import type { App } from '../context.ts';
import type { Owner } from '../http/exchange.ts';

type LinkApp = Pick<App, 'config'>;

/** `http` to one's own machine is for trying out: where money is real, no one returns to it. */
export const linkRules = ({ config }: LinkApp): LinkRules => ({ loopback: config.network === 'testnet' });

const refuse = (why: string) => new Refusal('url_not_allowed', { detail: `This URL is not allowed: ${why}` });

/** The hosts that the buyers of an owner may be led to. */
export const hostsOf = ({ config }: LinkApp, owner: Owner): readonly string[] =>
  owner.kind === 'platform' ? config.return_hosts : (owner.merchant.profile?.return_hosts ?? []);

/** In its normal form. Refuses with `url_not_allowed`. */
export function checkReturn(app: LinkApp, hosts: readonly string[], text: string): string {
  const found = returnAddress(text, { ...linkRules(app), hosts });
  if (typeof found === 'string') throw refuse(found);
  return found.href;
}

/** The same of a link to a page of the shop, which may have any host. */
export function checkLink(app: LinkApp, text: string): string {
  const found = webAddress(text, linkRules(app));
  if (typeof found === 'string') throw refuse(found);
  return found.href;
}

/** Each once, in its normal form. Refuses with `url_not_allowed`. */
export function checkHosts(texts: readonly string[]): string[] {
  const hosts = texts.map((text) => {
    const host = hostEntry(text);
    if (host === null) throw refuse(`“${text}” is no host such as shop.example or shop.example:8443`);
    return host;
  });
  return [...new Set(hosts)];
}

/** As a request has it: left out and null mean none. */
export interface SentReturn {
  success_url?: string | null | undefined;
  cancel_url?: string | null | undefined;
  return_automatically?: boolean | null | undefined;
}

export function checkReturns(app: LinkApp, hosts: readonly string[], sent: SentReturn): ReturnSettings {
  const { success_url, cancel_url } = sent;
  return {
    success_url: success_url ? checkReturn(app, hosts, success_url) : null,
    cancel_url: cancel_url ? checkReturn(app, hosts, cancel_url) : null,
    return_automatically: sent.return_automatically ?? false,
  };
}
