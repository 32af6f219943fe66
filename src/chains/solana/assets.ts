// What the chain says of mints and of watched accounts: which can be read, what they hold, and what is no wallet.
import type { Gateway, Rpc, Tip, UnreadableAsset } from '../family.ts';
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './address.ts';
import { badAnswer, type Caller, readAccounts, readTip, type SolanaAccount } from './providers/rpc.ts';
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

const parsedOf = (account: SolanaAccount) => (account?.data as { parsed?: Parsed } | undefined)?.parsed;

const isTokenProgram = (owner: string) => owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM;

/** What a token account holds; nothing where it does not exist or is not one. Throws where the answer leaves it out. */
export function tokenAmount(account: SolanaAccount, key: string): string {
  if (!account || !isTokenProgram(account.owner)) return '0';
  const amount = parsedOf(account)?.info?.tokenAmount?.amount;
  if (typeof amount !== 'string')
    throw badAnswer(`the answer leaves out what the token account ${key} holds`);
  return amount;
}

/** Why this is no wallet; null where it is one, or nothing so far. */
export function whyNoWallet(account: SolanaAccount): string | null {
  if (!account || account.owner === SYSTEM_PROGRAM) return null;
  if (!isTokenProgram(account.owner))
    return `This address belongs to the program ${account.owner}; give the address of your wallet`;
  const what = parsedOf(account)?.type === 'mint' ? 'a token' : 'a token account';
  return `This is the address of ${what}; give the address of your wallet`;
}

/** The same, asked of the chain. Throws ProviderError. */
export async function inspectSolanaAddress(rpc: Rpc, address_key: string): Promise<string | null> {
  const { found } = await readAccounts(rpc, [address_key], 0);
  return whyNoWallet(found[0] ?? null);
}
