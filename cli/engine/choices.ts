// What a person can choose from where the service knows the answers.
import { listGateways } from '../../src/api/endpoints/buyer.ts';
import type { Context } from './command.ts';
import type { Flag } from './flag.ts';

/** Gateway ids for `chain` and `currencies`, blockchains for `blockchain`; nothing where the service cannot say. */
export const choicesFrom =
  (context: Context) =>
  async ({ field, choices }: Flag): Promise<readonly string[] | undefined> => {
    if (choices) return undefined;
    if (!['chain', 'currencies', 'blockchain'].includes(field)) return undefined;
    const { data } = await context.call(listGateways);
    const names = data.map((gateway) => (field === 'blockchain' ? gateway.blockchain : gateway.chain));
    return [...new Set(names)];
  };
