// A server on this machine that takes webhooks, as people write it.
import { usage } from '../../engine/errors.ts';

/** `4242`, `localhost:3000/hook` or a whole address. */
export function receiverAt(text: string, flag = '--forward-to'): string {
  const whole = /^\d+(\/|$)/.test(text)
    ? `http://localhost:${text}`
    : /^[a-z]+:\/\//i.test(text)
      ? text
      : `http://${text}`;
  if (URL.canParse(whole) && /^https?:$/.test(new URL(whole).protocol)) return whole;
  throw usage(`${flag} takes a port, or an http or https address, not “${text}”`);
}
