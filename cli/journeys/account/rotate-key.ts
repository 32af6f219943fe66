// `gw account rotate-key`: a new merchant key; where the profile has the old one, it gets the new one.
import { rotateApiKey } from '../../../src/api/endpoints/merchant.ts';
import { derive } from '../../engine/derive.ts';
import { isStored } from '../../engine/profile.ts';
import { say } from '../../output/io.ts';

export const command = derive(rotateApiKey, {
  async after({ api_key }: { api_key: string }, { settings, io }) {
    const known = await settings();
    const present = known.get('api_key');
    if (!present || !isStored(present)) return;
    known.write({ api_key });
    say(io, `The new key is stored in the profile ${known.profile.value}.`);
  },
});
