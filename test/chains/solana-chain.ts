// A real Solana runtime (surfpool) for the tests, with a payer that signs and sends real transactions.
import { createRequire } from 'node:module';
import { base58 } from '@scure/base';
import { request } from 'undici';
import {
  associatedTokenAccount,
  MEMO_PROGRAMS,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../src/chains/solana/address.ts';
import { SURFPOOL } from '../helpers/software.ts';
import { type Front, startFront } from './solana-front.ts';
import {
  buildTransaction,
  computeLimit,
  createTokenAccount,
  type Instruction,
  type Keypair,
  type LookupTable,
  memoInstruction,
  mintTo,
  newKeypair,
  signTransaction,
  systemTransfer,
  tokenTransfer,
  u64,
} from './solana-message.ts';
import { relayProgram } from './solana-program.ts';

/** The part of surfpool's package that is used; it ships no types. */
interface Surfnet {
  rpcUrl: string;
  wsUrl: string;
  payerSecretKey: number[];
  fundSol(address: string, lamports: number): void;
  setAccount(address: string, lamports: number, data: number[], owner: string): void;
  deploy(program: { programId: string; soBytes: number[] }): void;
  drainEvents(): unknown[];
  stop(): void;
}
interface SurfpoolPackage {
  Surfnet: { startWithConfig(config: object): Surfnet };
}

function loadSurfpool(): SurfpoolPackage | undefined {
  try {
    return createRequire(import.meta.url)(SURFPOOL) as SurfpoolPackage;
  } catch {
    return undefined;
  }
}

const surfpool = loadSurfpool();
/** Whether this platform has the chain software. */
export const hasSurfpool = surfpool !== undefined;

const SLOT_MS = 50;
/** surfpool's bounded event queue stops it when no one empties it. */
const DRAIN_INTERVAL_MS = 1000;
const WAIT_MS = 20_000;
const WAIT_STEP_MS = 25;
const RENT_LAMPORTS = 10_000_000;
const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111';
/** The memo programs by age: v1, v3 and the newest, which nodes do not parse. */
export const [MEMO_V1 = '', MEMO_V3 = '', MEMO_V4 = ''] = MEMO_PROGRAMS;

export interface Mint {
  address: string;
  decimals: number;
  program: string;
}

export interface PayOptions {
  memo?: string;
  /** MEMO_V3 by default. */
  memo_program?: string;
  /** Has another program write the memo, so that it is an inner instruction. */
  inner_memo?: boolean;
  references?: string[];
  from?: Keypair;
  /** Where the addresses are looked up: makes it a version 0 transaction. */
  tables?: LookupTable[];
  /** Sends it although it must fail. */
  may_fail?: boolean;
  /** `confirmed` by default. */
  wait?: 'confirmed' | 'finalized' | 'none';
}

export type SolanaChain = Awaited<ReturnType<typeof startSolanaChain>>;

/** Starts a chain of its own; real HTTP at `url`. Every amount is in atomic units, every answer a signature. */
export async function startSolanaChain() {
  if (!surfpool) throw new Error('surfpool is not installed');
  const node = surfpool.Surfnet.startWithConfig({
    offline: true,
    blockProductionMode: 'clock',
    slotTimeMs: SLOT_MS,
  });
  const drain = setInterval(() => node.drainEvents(), DRAIN_INTERVAL_MS);
  const front: Front = await startFront(node.rpcUrl);
  const payer = newKeypair(Uint8Array.from(node.payerSecretKey.slice(0, 32)));
  const relay = newKeypair().address;
  let sent = 0;

  async function rpc<T>(method: string, params: unknown[]): Promise<T> {
    const { body } = await request(node.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const reply = (await body.json()) as { result: T; error?: { message: string } };
    if (reply.error) throw new Error(`${method}: ${reply.error.message}`);
    return reply.result;
  }

  type Status = { err: unknown; confirmationStatus: string } | null;
  async function statusOf(signature: string): Promise<Status> {
    const { value } = await rpc<{ value: Status[] }>('getSignatureStatuses', [[signature]]);
    return value[0] ?? null;
  }

  async function waitFor(signature: string, wanted: 'confirmed' | 'finalized'): Promise<void> {
    for (let waited = 0; waited < WAIT_MS; waited += WAIT_STEP_MS) {
      const reached = (await statusOf(signature))?.confirmationStatus;
      if (reached === 'finalized' || reached === wanted) return;
      await new Promise((resolve) => setTimeout(resolve, WAIT_STEP_MS));
    }
    throw new Error(`${signature} did not become ${wanted}`);
  }

  /** Signs and sends; throws if it fails on the chain, unless it may. */
  async function send(
    instructions: readonly Instruction[],
    { from = payer, tables, may_fail = false, wait = 'confirmed' }: PayOptions = {},
    signers: readonly Keypair[] = [],
  ): Promise<string> {
    const { value } = await rpc<{ value: { blockhash: string } }>('getLatestBlockhash', []);
    const all = [computeLimit(400_000 + ++sent), ...instructions];
    const others = signers.filter((signer) => signer.address !== from.address);
    const bytes = buildTransaction(all, [from, ...others], value.blockhash, tables);
    const signature = await rpc<string>('sendTransaction', [
      bytes.toString('base64'),
      { encoding: 'base64', skipPreflight: may_fail },
    ]);
    if (wait !== 'none') await waitFor(signature, wait);
    const err = (await statusOf(signature))?.err ?? null;
    if (err !== null && !may_fail) throw new Error(`${signature} failed: ${JSON.stringify(err)}`);
    return signature;
  }

  function memoOf({ memo, memo_program = MEMO_V3, inner_memo = false }: PayOptions): Instruction[] {
    if (memo === undefined) return [];
    const direct = memoInstruction(memo_program, memo);
    return [inner_memo ? { program: relay, accounts: [{ key: memo_program }], data: direct.data } : direct];
  }

  const tokenAccount = (owner: string, mint: Mint) =>
    associatedTokenAccount(owner, mint.program, mint.address);

  /** From one wallet's token account to another's. */
  const tokenRoute = (mint: Mint, to: string, authority = payer.address) => ({
    from: tokenAccount(authority, mint),
    to: tokenAccount(to, mint),
    mint: mint.address,
    authority,
  });

  /** The instructions that pay tokens as wallets do: the receiver's account is made if it is not there. */
  function tokenPayment(mint: Mint, to: string, amount: bigint, options: PayOptions): Instruction[] {
    const authority = (options.from ?? payer).address;
    const route = tokenRoute(mint, to, authority);
    return [
      createTokenAccount(authority, route.to, to, mint.address, mint.program),
      ...memoOf(options),
      tokenTransfer(mint.program, route, amount, mint.decimals, options.references),
    ];
  }

  const chain = {
    url: front.url,
    /** Where the node says what has changed. */
    hints_url: node.wsUrl,
    payer,
    requests: front.requests,
    intercept: front.intercept,
    send,
    waitFor,
    memoOf,
    tokenAccount,
    tokenRoute,
    tokenPayment,
    slot: (commitment = 'confirmed') => rpc<number>('getSlot', [{ commitment }]),

    /** Signs what was made for this wallet, as wallets do: the transaction as it is, base64. */
    async signAndSend(transaction: string, from: Keypair): Promise<string> {
      const signed = signTransaction(Buffer.from(transaction, 'base64'), from);
      const signature = await rpc<string>('sendTransaction', [
        signed.toString('base64'),
        { encoding: 'base64' },
      ]);
      await waitFor(signature, 'confirmed');
      return signature;
    },

    /** Gives lamports without a transaction. */
    fund(address: string, lamports: bigint): void {
      node.fundSol(address, Number(lamports));
    },

    /** A new wallet with 1 SOL for fees. */
    wallet(): Keypair {
      const keypair = newKeypair();
      chain.fund(keypair.address, 1_000_000_000n);
      return keypair;
    },

    /** Plants a mint, at `address` where it is given; the payer may mint. With a fee it is of Token-2022. */
    createMint({
      address = newKeypair().address,
      decimals = 6,
      fee_basis_points,
    }: {
      address?: string;
      decimals?: number;
      fee_basis_points?: number;
    } = {}): Mint {
      const program = fee_basis_points === undefined ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM;
      const data = mintData(payer.address, decimals, fee_basis_points);
      node.setAccount(address, RENT_LAMPORTS, [...data], program);
      return { address, decimals, program };
    },

    /** Mints to a wallet's token account, making it. */
    mint: (mint: Mint, owner: string, amount: bigint) =>
      send([
        createTokenAccount(payer.address, tokenAccount(owner, mint), owner, mint.address, mint.program),
        mintTo(mint.program, mint.address, tokenAccount(owner, mint), payer.address, amount),
      ]),

    sendSol(to: string, lamports: bigint, options: PayOptions = {}): Promise<string> {
      const from = (options.from ?? payer).address;
      return send([...memoOf(options), systemTransfer(from, to, lamports, options.references)], options);
    },

    sendToken: (mint: Mint, to: string, amount: bigint, options: PayOptions = {}) =>
      send(tokenPayment(mint, to, amount, options), options),

    /** A memo and a transfer of more than the sender has: the chain keeps both, as failed. */
    sendFailing: (to: string, memo: string) =>
      chain.sendSol(to, 1_000_000_000_000_000n, { memo, may_fail: true }),

    /** Plants a lookup table that can be used at once. */
    createLookupTable(addresses: string[]): LookupTable {
      const key = newKeypair().address;
      node.setAccount(key, RENT_LAMPORTS, [...lookupTableData(addresses)], LOOKUP_TABLE_PROGRAM);
      return { key, addresses };
    },

    async stop(): Promise<void> {
      clearInterval(drain);
      await front.stop();
      node.stop();
    },
  };

  // surfpool has no p-memo: the older program's code at the newer address is answered unparsed just the same.
  const { value } = await rpc<{ value: { data: [string, string] } }>('getAccountInfo', [
    MEMO_V3,
    { encoding: 'base64' },
  ]);
  node.deploy({ programId: MEMO_V4, soBytes: [...Buffer.from(value.data[0], 'base64')] });
  node.deploy({ programId: relay, soBytes: [...relayProgram()] });
  return chain;
}

/** The layout of a mint, and of Token-2022's fee extension behind it. */
function mintData(authority: string, decimals: number, feeBasisPoints?: number): Buffer {
  const none = Buffer.alloc(36);
  const base = Buffer.concat([
    Buffer.of(1, 0, 0, 0),
    base58.decode(authority),
    u64(0),
    Buffer.of(decimals, 1),
    none,
  ]);
  if (feeBasisPoints === undefined) return base;
  const points = Buffer.alloc(2);
  points.writeUInt16LE(feeBasisPoints);
  const fee = Buffer.concat([u64(0), u64(0xffffffffffffffffn), points]);
  const config = Buffer.concat([Buffer.alloc(64), u64(0), fee, fee]);
  const head = Buffer.alloc(4);
  head.writeUInt16LE(1, 0);
  head.writeUInt16LE(config.length, 2);
  return Buffer.concat([base, Buffer.alloc(165 - base.length), Buffer.of(1), head, config]);
}

function lookupTableData(addresses: readonly string[]): Buffer {
  const meta = Buffer.alloc(56);
  meta.writeUInt32LE(1, 0);
  meta.writeBigUInt64LE(0xffffffffffffffffn, 4);
  return Buffer.concat([meta, ...addresses.map((address) => base58.decode(address))]);
}
