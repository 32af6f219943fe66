// `gw wallet list\`: where you are paid, and what is missing.
import { getMerchantWallets } from '../../../src/api/endpoints/merchant.ts';
import { callCommand } from '../../command.ts';
import { say } from '../../io.ts';

export const command = callCommand(getMerchantWallets, {
  examples: ['gw wallet list', 'gw wallet list --json missing'],
  view: { columns: ['blockchain', 'address', 'currencies', 'network', 'updated_at'] },
  after({ missing }: { missing: string[] }, { io }) {
    if (missing.length > 0)
      say(io, `Missing: ${missing.join(', ')}. Set one: gw wallet set ${missing[0]} ADDRESS`);
  },
});
