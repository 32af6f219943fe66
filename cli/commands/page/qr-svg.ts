// `gw page qr-svg`: the QR code of an invoice as SVG.
import { payQrSvg } from '../../../src/api/endpoints/checkout.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(payQrSvg, {
  args: ['invoice_id'],
  examples: ['gw page qr-svg ID --output qr.svg', 'gw page qr-svg ID --json'],
});
