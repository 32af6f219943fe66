// `gw wallet list`: where you are paid, and what is missing.
import { getMerchantWallets } from '../../../src/api/endpoints/merchant.ts';
import { derive } from '../../engine/derive.ts';
import { say } from '../../output/io.ts';

export const command = derive(getMerchantWallets, {
  after({ missing }: { missing: string[] }, { io }) {
    if (missing.length > 0)
      say(io, `Missing: ${missing.join(', ')}. Set one: gw wallet set ${missing[0]} ADDRESS`);
  },
});
