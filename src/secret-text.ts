// Whether a text looks like a key, a token or a seed phrase: such a text is never repeated to who sent it.

/** Characters of a text that are searched; more of it is never shown. */
const SEARCHED = 4_096;

/** What says by its form that it is a secret. Each is linear in the text, whatever is sent. */
const forms: readonly RegExp[] = [
  // Keys of merchants and of the platform, secrets of webhooks, JSON Web Tokens.
  /gw_[\x21-\x7e]{8}/i,
  /whsec_[\w+/=-]{4}/i,
  /eyJ[\w-]{10}/,
  // A URL with a password or a key.
  /:\/\/[^\s/?#]*@/,
  /[?&](?:api_?key|key|token|secret|password)=./i,
  /bearer\s+\S/i,
  // A token of a Telegram bot.
  /\d{6,20}:[\w-]{20}/,
  // A private key in its usual wrapping.
  /-----BEGIN /,
];

/** Long words of hex, base58 or base64: also what is none of ours. */
const LONG_WORD = /[\w+/=-]{32,}/g;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Twelve or more plain words in a row are how a wallet's seed is written down. */
const SEED = /^\s*[a-z]{3,8}(?:\s+[a-z]{3,8}){11,24}\s*$/i;
const SEED_LENGTH = 300;

/** True also for what only resembles a secret, such as an address or a transaction id: then too little is shown. */
export function looksSecret(whole: string): boolean {
  const text = whole.slice(0, SEARCHED);
  if (forms.some((form) => form.test(text))) return true;
  if (text.length <= SEED_LENGTH && SEED.test(text)) return true;
  return (text.match(LONG_WORD) ?? []).some(
    (word) => /\d/.test(word) && /[a-z]/i.test(word) && !UUID.test(word),
  );
}
