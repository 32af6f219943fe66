// `gw unit create\`: a new offer with a USD price.
import { createUnit } from '../../../src/api/endpoints/units.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(createUnit, {
  examples: [
    'gw unit create --title Coffee --amount-usd 4.50 --currencies TON,ton-usdt',
    `echo '{"title":"Tea","amount_usd":"3","currencies":["TON"]}' | gw unit create -f - --json`,
  ],
});
