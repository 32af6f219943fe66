// What the service says, in the words of the command line: commands in place of calls, and no validator's language.
import type { Registry } from './command.ts';

const CALL = /`?\b(GET|POST|PUT|PATCH|DELETE) (\/[\w/{}.-]*)`?/g;

/** `PUT /api/v1/merchant/wallets` → `gw wallet set`, `force: true` → `--force`. */
export async function inCommands(text: string, registry: Registry): Promise<string> {
  const { api } = await import('../../src/api/endpoints/api.ts');
  const commandOf = (method: string, path: string): string | undefined => {
    const endpoint = api.find((one) => one.method === method && one.path === path);
    const entry = registry.entries.find((one) => one.endpoint !== undefined && one.endpoint === endpoint?.id);
    return entry && `gw ${entry.path}`;
  };
  return text
    .replace(CALL, (call, method: string, path: string) => commandOf(method, path) ?? call)
    .replace(/`(\w+): true`/g, (_, name: string) => `--${name.replaceAll('_', '-')}`)
    .replaceAll('`', '');
}

/** What is wrong with a value, as a person says it: `must be a number such as 12.50`. */
export const faultInWords = (msg: string): string =>
  msg
    .replace(
      /^(Input should be a valid (number|decimal)|Decimal input should be an integer).*$/,
      'must be a number such as 12.50',
    )
    .replace(/^Input should be a valid integer.*$/, 'must be a whole number')
    .replace(
      /^Input should be a valid UUID.*$/,
      'must be an id as it is listed, or its first or last eight characters',
    )
    .replace(/^Input should be a valid date in the format YYYY-MM-DD.*$/, 'must be a day such as 2026-01-31')
    .replace(/^(Input|Decimal input|String) should /, 'must ')
    .replace(/^Field required$/, 'is missing')
    .replace(/^value is not a valid email address: /, '');
