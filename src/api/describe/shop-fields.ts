// What a shop may say of itself, of a unit and of an invoice. None of it is in the specification.
import { MAX_PICTURE_URL } from '../../picture.ts';
import { MAX_RETURN_URL } from '../../return-url.ts';
import { bool, list, text } from './fields.ts';

export const MAX_TITLE = 128;
export const MAX_DESCRIPTION = 512;
const MAX_NAME = 64;
const MAX_LEGAL = 255;
const MAX_HOST = 255;
export const MAX_RETURN_HOSTS = 20;
/** One line without controls, and without characters that turn the direction of what stands next to it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it keeps out
const LINE = /^[^\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]*$/;

export const BEYOND = 'Beyond the specification';

export const line = (min: number, max: number) => text({ min, max, pattern: LINE });
export const displayName = () => line(1, MAX_NAME);
export const legalLine = () => line(1, MAX_LEGAL);
export const shopTitle = () => line(1, MAX_TITLE);
export const shopDescription = () => text({ max: MAX_DESCRIPTION });
export const webUrl = () => text({ min: 1, max: MAX_RETURN_URL, url: true });
/** Members that hold a picture. */
export const pictureNames: ReadonlySet<string> = new Set(['image_url', 'logo_url']);
export const pictureUrl = () => text({ min: 1, max: MAX_PICTURE_URL });
export const returnHosts = () =>
  list(text({ min: 1, max: MAX_HOST, named: true }), { max: MAX_RETURN_HOSTS });
export const returnAutomatically = () => bool();

export const SUCCESS_URL = `Where the page sends a buyer who has paid: https, on one of the \`return_hosts\` of the account. \`invoice_id\`, \`invoice_status\` and \`signature\` are added to its query. ${BEYOND}`;
export const CANCEL_URL = `Where the page sends a buyer who has not paid. ${BEYOND}`;
export const AUTOMATICALLY = `Whether the page goes there without a click, 5 seconds after the payment was made or cancelled. ${BEYOND}`;
export const PICTURE = `\`data:image/png;base64,…\` (or jpeg, webp; at most 64 kB and 2048 × 2048 pixels), which is stored here, or the address of a picture that is stored here already. Other addresses are refused: pages load nothing from elsewhere. ${BEYOND}`;
export const RECEIPT_EMAIL = `Where the receipt is sent by email once the invoice is paid. Never shown to anyone, and deleted once the receipt was sent. ${BEYOND}`;
