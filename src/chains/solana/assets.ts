// What the chain says of mints and of watched accounts: which can be read, and what they hold.
import type { Gateway, Tip, UnreadableAsset } from '../family.ts';
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './address.ts';
import { badAnswer, type Caller, readTip, type SolanaAccount } from './providers/rpc.ts';
import type { Asset } from './transfers.ts';

interface Parsed {
  type?: string;
  info?: { decimals?: number; tokenAmount?: { amount?: string } };
}

/** The tip, and what the mints of these gateways are, in one request: they are asked for each time, it costs nothing. */
export async function readAssets(
  rpc: Caller,
  gateways: readonly Gateway[],
): Promise<{ tip: Tip; assets: Asset[]; unreadable: UnreadableAsset[] }> {
  const mints = [...new Set(gateways.flatMap(({ token_contract }) => token_contract ?? []))];
  const { tip, found } = await readTip(rpc, mints);
  const assets: Asset[] = [];
  const unreadable: UnreadableAsset[] = [];
  for (const gateway of gateways) {
    const { chain, token_contract: mint } = gateway;
    const account = mint === null ? null : (found[mints.indexOf(mint)] ?? null);
    const reason = mint === null ? null : whyNoMint(account, gateway);
    const program = account?.owner ?? SYSTEM_PROGRAM;
    if (reason === null) assets.push({ gateway, mint, program });
    else unreadable.push({ chain, reason });
  }
  // The wallet before its token accounts: it says whether they are read at all.
  assets.sort((one, other) => Number(one.mint !== null) - Number(other.mint !== null));
  return { tip, assets, unreadable };
}

function whyNoMint(account: SolanaAccount, { token_contract: mint, decimals }: Gateway): string | null {
  if (!account) return `the mint ${mint} does not exist`;
  const parsed = parsedOf(account);
  if (!isTokenProgram(account.owner) || parsed?.type !== 'mint') return `${mint} is not a mint`;
  if (parsed.info?.decimals === decimals) return null;
  return `the mint ${mint} has ${JSON.stringify(parsed.info?.decimals)} decimals, the gateway ${decimals}`;
}

export const parsedOf = (account: SolanaAccount) =>
  (account?.data as { parsed?: Parsed } | undefined)?.parsed;

export const isTokenProgram = (owner: string) => owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM;

const WHOLE = /^\d{1,20}$/;

/** What a token account holds; nothing where it does not exist or is not one. Throws where the answer leaves it out. */
export function tokenAmount(account: SolanaAccount, key: string): string {
  if (!account || !isTokenProgram(account.owner)) return '0';
  const amount = parsedOf(account)?.info?.tokenAmount?.amount;
  if (typeof amount !== 'string' || !WHOLE.test(amount))
    throw badAnswer(`the answer leaves out what the token account ${key} holds`);
  return amount;
}
