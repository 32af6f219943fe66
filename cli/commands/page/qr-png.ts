// `gw page qr-png`: the QR code of an invoice as PNG.
import { payQrPng } from '../../../src/api/endpoints/checkout.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(payQrPng, {
  args: ['invoice_id'],
  examples: ['gw page qr-png ID --output qr.png', 'gw page qr-png ID --json'],
});
