// `gw account rotate-key`: a new merchant key; the old one ends at once.
import { rotateApiKey } from '../../../src/api/endpoints/merchant.ts';
import { callCommand } from '../../command.ts';
import { say } from '../../io.ts';

export const command = callCommand(rotateApiKey, {
  examples: ['gw account rotate-key', 'gw account rotate-key --yes --json api_key'],
  destroys: () => ({
    question: 'Replace the merchant key? Whatever uses the old one stops working at once.',
  }),
  view: { columns: ['slug', 'api_key'] },
  async after({ api_key }: { api_key: string }, { settings, io }) {
    const known = await settings();
    if (known.get('api_key')?.origin !== 'profile') return;
    known.write({ api_key });
    say(io, `The profile ${known.profile.value} has the new key.`);
  },
});
