// The interface every blockchain family implements, and the shapes that pass through it.
import type { ConfirmationStep, Usual } from '../confirmations.ts';
import type { Asset } from './assets.ts';
import type { HostLimits } from './known-hosts.ts';
import type { Turns } from './steps.ts';

/** `mainnet` moves real money; `testnet` stands for every test chain (testnet, signet, devnet, regtest, local). */
export type Network = 'mainnet' | 'testnet';

/** A value that survives JSON; cursors are stored as such. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** One payable asset on one blockchain on one network, with all its numbers. */
export interface Gateway extends Usual {
  /** Gateway id, the `chain` of the wire: `ton-usdt`. */
  chain: string;
  /** Ticker of the asset: `USDT`. */
  currency: string;
  name: string;
  network: Network;
  /** What a wallet belongs to: `ton`. */
  blockchain: string;
  blockchain_name: string;
  /** Decimals of the atomic unit on the chain. */
  decimals: number;
  /** Decimals a buyer is asked to pay with; amounts round up to it. At most `decimals`. */
  payable_decimals: number;
  /** The most blocks that any invoice of it waits for; where time decides, what that is at the usual pace, and only shown. */
  min_confirmations: number;
  /** The most seconds of the chain's own time that a payment's block must be old, where time decides instead of blocks. */
  confirm_seconds?: number;
  /** What invoices wait for by their value; absent where all wait for the same. */
  confirmations_by_value?: readonly ConfirmationStep[];
  /** Whether blocks come by luck, so that a few in a row may take many times as long. */
  is_found_by_luck?: boolean;
  payment_ttl_seconds: number;
  poll_interval_seconds: number;
  /** What its network usually takes of a payer for one payment, USD: coarse, and in no sum. */
  usual_fee_usd: string | null;
  supports_memo: boolean;
  /** Whether the amount itself identifies the invoice. Always true where there is no memo. */
  unique_amount: boolean;
  is_token: boolean;
  token_contract: string | null;
  /** Kinds of payment link this gateway offers: `wallet`, `web`, `tg`, or the name of a wallet. */
  exits: string[];
  /** Whether only payments are seen that a transaction makes itself, and none that a contract makes within one. */
  direct_only?: boolean;
  /** What reads its blockchain. */
  family: Family;
  /** Its price and logo. */
  asset: Asset;
}

/** A receive address in its two forms. */
export interface ChainAddress {
  /** How wallets show it; what the buyer copies. */
  address: string;
  /** How the chain's answers name it; equal for every spelling of one address. Used as database key. */
  key: string;
}

/** An address that is not acceptable; the message says why and what is expected, without a trailing full stop. */
export class AddressError extends Error {
  override name = 'AddressError';
}

/** What a payment link is made of. `amount_atomic` is in the gateway's atomic units. */
export interface PaymentOrder {
  gateway: Gateway;
  /** The display form of the receive address. */
  address: string;
  amount_atomic: bigint;
  memo: string | null;
  /** The per-invoice key of chains that index one (Solana); null elsewhere. */
  reference: string | null;
  label: string;
  /** Unix seconds. */
  expires_at: number;
}

/** `uri` is the chain's own payment URI (the QR payload); `exits` holds only links that real wallets document. */
export interface PaymentLinks {
  uri: string;
  exits: Record<string, string>;
}

/** Why a provider's answer cannot be used. */
export type ProviderErrorKind = 'unreachable' | 'rate_limited' | 'bad_answer' | 'rpc' | 'wrong_network';

/** Every failure of a provider. The message never holds a key or a password. */
export class ProviderError extends Error {
  override name = 'ProviderError';
  readonly kind: ProviderErrorKind;
  /** HTTP status or JSON-RPC error code, where there was one. */
  readonly code: number | null;
  constructor(kind: ProviderErrorKind, message: string, code: number | null = null) {
    super(message);
    this.kind = kind;
    this.code = code;
  }
}

export interface RequestOptions {
  /** Repeated keys are sent for arrays: `account=A&account=B`. */
  query?: Record<string, string | number | boolean | readonly (string | number)[] | undefined>;
  /** A JSON body; makes the request a POST. */
  body?: Json;
  /** The most bytes of the answer that are read; absent: as much as any answer but a raw block has. */
  most_bytes?: number;
}

/** One provider as handed to a family: rate, timeout, size cap, retry and key are applied behind it. All methods throw ProviderError. */
export interface Rpc extends Turns {
  /** The kind of the provider, one of the family's `providers`. */
  provider: string;
  /** GET (or POST with a body) below the provider's URL, parsed JSON. */
  json(path: string, options?: RequestOptions): Promise<unknown>;
  text(path: string, options?: RequestOptions): Promise<string>;
  bytes(path: string, options?: RequestOptions): Promise<Uint8Array>;
  /** One JSON-RPC 2.0 call to the provider's URL; an error object throws kind `rpc` with its code. */
  call(method: string, params: Json, options?: Pick<RequestOptions, 'most_bytes'>): Promise<unknown>;
  /**
   * A JSON-RPC batch (only for nodes that support it), which one host answers; an entry that failed is a ProviderError
   * value, also where there was no time for it while others were answered. Throws where it was refused as a whole.
   */
  batch(
    calls: readonly RpcCall[],
    options?: Pick<RequestOptions, 'most_bytes'>,
  ): Promise<(unknown | ProviderError)[]>;
  /** What is known of what it takes at once; absent where nothing is stored. */
  limits?: HostLimits;
}

export interface RpcCall {
  method: string;
  params: Json;
}

export interface WatchedAddress {
  key: string;
  address: string;
  /** Unix seconds: nothing older can be a payment of ours. */
  since: number;
  /** Whether an invoice to it is still open (others are only watched for late payments). */
  open: boolean;
}

/** One asset at one address: what is read, proved, paused and reported on its own. */
export interface AccountRef {
  address_key: string;
  /** Gateway id of the asset. */
  chain: string;
}

/** An account to read and prove before others. */
export interface UrgentAccount extends AccountRef {
  /** The moment that is to be proved, Unix seconds of our clock; absent where somebody asks for what is there now. */
  through?: number;
}

/** How far one account was read, where that is not as far as the rest of its blockchain. */
export interface AccountProof extends AccountRef {
  /** The account on the chain that holds the asset: the address itself, a jetton wallet, a token account. */
  account: string;
  /** Everything made before this moment is stored, Unix seconds of our clock; null: nothing is proved. */
  read_through: number | null;
  /** Why it was not read further, for the operator and the merchant; null where nothing is wrong. */
  trouble: string | null;
  /** Whether trying again at once is of no use: the account is then left alone for a growing while. */
  failed: boolean;
}

/** An asset whose contract, mint or master cannot be read: its invoices stay open, new ones are refused. */
export interface UnreadableAsset {
  /** Gateway id. */
  chain: string;
  reason: string;
}

/** When something happened, as far as is known: not before and not after, Unix seconds of our clock. */
export interface Interval {
  earliest_at: number;
  latest_at: number;
}

/** One credit to a watched address: a transaction output, a message, a token balance change. */
export interface Transfer extends Interval {
  /** Gateway id of the asset that moved. */
  chain: string;
  address_key: string;
  /** In the chain's own form (TON: hex hash of the transaction on the receiving account). */
  txid: string;
  /**
   * Tells credits of one transaction apart and names account and asset where one transaction can credit several;
   * (blockchain, txid, index) is unique for ever and the same at every reading.
   */
  index: string;
  amount_atomic: bigint;
  /** Trimmed, never empty; null where there is none or it cannot be read. */
  memo: string | null;
  /** Solana references carried by the transaction; empty elsewhere. */
  references: string[];
  sender: string | null;
  /** Block height, slot or masterchain seqno; null while unconfirmed. */
  height: number | null;
  block_hash: string | null;
  /** The outputs that it spends (`txid:vout`); empty where the chain has none. A replacement keeps the interval. */
  inputs: string[];
  /** The blockhash after whose expiry it can no longer be included; null or absent where nothing bounds its life. */
  blockhash?: string | null;
  confirmations: number;
  /**
   * Seconds of the chain's own time between its block and the newest block that was read; null or absent while it is
   * unconfirmed, and where the family counts none.
   */
  depth_seconds?: number | null;
  /** Whether the chain itself calls it final (Solana `finalized`, TON masterchain). UTXO: never, confirmations decide. */
  final: boolean;
  /** Why it must not be matched automatically though it is a real credit (two memos in one transaction, …); listed to the operator. */
  ambiguous?: string;
}

/** A stretch that was read completely, both ends included. Heights for block chains, slots or Unix seconds elsewhere. */
export interface ReadRange {
  scope: string;
  from: number;
  to: number;
}

export interface Tip {
  height: number;
  hash: string | null;
  /** Unix seconds. */
  time: number;
  /** How old tips of this chain are at least when they are read, seconds, where that was measured. */
  age_seconds?: number;
}

/** How fast a chain makes blocks, measured over headers that were read. Seconds for one block, fractions included. */
export interface Pace {
  /** The median over some minutes. */
  recent_seconds: number;
  /** The median over about an hour; null until so much was read. */
  hour_seconds: number | null;
}

/** What one step of reading found; stored in one transaction with the cursors it moves. */
export interface Page {
  transfers: Transfer[];
  /** What reading showed to have become of stored transfers: one whose inputs another transaction spends is gone. */
  updates?: TransferUpdate[];
  /** The chain's new cursor; absent leaves it. */
  cursor?: Json;
  /** New cursors of single accounts; absent ones are left. */
  accounts?: [account: string, cursor: Json][];
  ranges?: ReadRange[];
  /** Hashes of blocks that left the chain: transfers in them lose height and hash. */
  orphaned_blocks?: string[];
  /**
   * What those blocks paid to watched addresses. Of it, what is not stored was read before its address was watched: it is
   * older than any invoice of that watch, wherever it is mined again.
   */
  orphaned_transfers?: Transfer[];
  /** Blocks that left the chain though it had called them final, both ends included: an operator is alerted. */
  final_left?: { from: number; to: number };
  tip?: Tip;
  /** Absent where nothing new was measured. */
  pace?: Pace;
  /** Whether reading came further and has more left than one reading takes: the next one is worth while at once. */
  is_unfinished?: boolean;
  /**
   * Everything made before this moment (Unix seconds of our clock) is read when this page is, of every account that has
   * no proof of its own. The last page that says so counts; where none does, only proofs of single accounts do.
   */
  read_through?: number;
  /** Accounts with a proof of their own, from now on … */
  proofs?: AccountProof[];
  /** … and those that are read as far as the rest again. */
  caught_up?: AccountRef[];
  /** Of all gateways read; absent leaves what was known. */
  unreadable?: UnreadableAsset[];
}

export interface ReadContext {
  rpc: Rpc;
  network: Network;
  blockchain: string;
  /** The gateways of this blockchain that are read: enabled ones, and others while their invoices may be paid. */
  gateways: readonly Gateway[];
  /** Unix seconds. */
  now(): number;
  /** When a moment of the chain's own clock was by ours, which may be wrong: Unix seconds, both. Of chains that keep time. */
  local(chain_time: number): Interval;
  /** Hands over another provider, for a second opinion. Throws ProviderError where there is none to ask now. */
  askOther?<T>(work: (rpc: Rpc) => Promise<T>): Promise<T>;
  /** Requests that one reading may spend on single accounts beyond those that serve all, so that none delays the others. */
  spare_requests: number;
}

export interface ReadRequest {
  /** To be asked after the tip is known: who is watched later than the tip cannot have been paid before it. */
  addresses(): Promise<readonly WatchedAddress[]>;
  cursor: Json | null;
  /** The stored cursors of these accounts. */
  accounts(keys: readonly string[]): Promise<Map<string, Json>>;
  /**
   * Accounts to read and prove first: an invoice of theirs is about to end, or somebody asks. To be asked after the tip
   * is known. Those of them that this reading cannot prove need a proof that says so.
   */
  urgent(): Promise<readonly UrgentAccount[]>;
  /** The stored proofs of accounts that are behind. */
  behind(): Promise<readonly StoredProof[]>;
  /** What is stored and not final yet: who spends the same as one of them shows that it is gone. */
  pending(): Promise<readonly PendingTransfer[]>;
  /** What the last reading stated as `read_through`; null where none did. */
  read_through: number | null;
}

/** A proof as it was stored with the reading before. */
export interface StoredProof extends AccountProof {
  /** Whether the account is not asked about in this reading. */
  paused: boolean;
}

/** A stored transfer that is not yet final, handed back to be asked about. */
export interface PendingTransfer {
  chain: string;
  address_key: string;
  txid: string;
  index: string;
  height: number | null;
  block_hash: string | null;
  first_seen_at: number;
  inputs: string[];
  blockhash: string | null;
}

/** What became of a pending transfer. `gone` needs a proof (a conflicting spend, an expired blockhash), never absence alone. */
export interface TransferUpdate {
  txid: string;
  index: string;
  state: 'pending' | 'final' | 'gone';
  confirmations: number;
  /** As of a transfer. */
  depth_seconds?: number | null;
  height: number | null;
  block_hash: string | null;
  /** With `gone`: what proves it, for the payment's log. */
  reason?: string;
  /** With `gone`: what took its place paid to the same address; stored with it, so that no invoice ends in between. */
  replaced_by?: Transfer[];
}

/** A transaction that somebody names, at one address. */
export interface NamedTransaction {
  txid: string;
  address_key: string;
  gateway: Gateway;
}

/** One blockchain as one process reads it. What it caches between readings costs requests when lost, never payments. */
export interface ChainReader {
  /**
   * Reads what is new, page by page. Each page must be stored before the next is asked for; a thrown
   * ProviderError leaves everything after the last page to be read again. Never skips, never costs per invoice.
   */
  read(context: ReadContext, request: ReadRequest): AsyncIterable<Page>;
  /**
   * Asks about transfers that are not final yet, in batches; leaves out what cannot be determined now. A place is confirmed
   * on the chain that was read alone, also that of a transfer that only a look-up has shown.
   */
  recheck(
    context: ReadContext,
    pending: readonly PendingTransfer[],
    tip: Tip | null,
  ): Promise<TransferUpdate[]>;
  /**
   * The credits that a transaction made to an address in one asset, as this provider has them now; empty where it has no
   * such transaction or it paid something else. The same transfers as reading gives, but for the interval, and without
   * confirmations where no reading has reached their block, or it is of another branch.
   */
  lookUp(context: ReadContext, named: NamedTransaction): Promise<Transfer[]>;
}

/** A kind of provider that a family reads from: what `blockchains.<id>.provider` in the settings may name. */
export interface ProviderKind {
  /** `toncenter`, as settings and messages name it. */
  kind: string;
  /** Whether it is always the operator's own, so that its URL must be configured. */
  needs_url: boolean;
  /** The header that carries `api_key`, in lower case. */
  key_header: string;
}

/** What is subscribed to on one connection. */
export interface HintRequest {
  /** Keys of all addresses to hear of, on a connection that may have been asked for some of them before … */
  addresses: readonly string[];
  /** … and of those that are new to it: all of them at its beginning. */
  added: readonly string[];
  gateways: readonly Gateway[];
  network: Network;
}

/** `moved`: something at an address that was asked for. `block`: there is a new block, whatever is in it. */
export type Hint = 'moved' | 'block';

/**
 * How providers of a family say over a WebSocket that something happened. Nothing is believed of it: a hint brings the next
 * reading forward, and is lost without harm.
 */
export interface HintFeed {
  /** Addresses that one connection is asked for. */
  most_addresses: number;
  /** Where a provider that answers at this URL is documented to have it; null where that is not known. */
  urlFor(provider_url: URL): string | null;
  /** The messages that ask for it. */
  subscribe(request: HintRequest): readonly Json[];
  /** What a parsed message from there says; null where it says nothing of the chain. */
  hintIn(message: unknown): Hint | null;
  /** A message to send now and then, besides pings; absent where none is asked for. */
  keep_alive?: Json;
}

/** A wallet that payment links of a family lead to. */
export interface Wallet {
  /** Names its drawing, and what a browser stores of the last choice. */
  id: string;
  name: string;
  /** The name that people knew it by until lately. */
  formerly?: string;
  /** What its own browser calls itself: a link to it is of no use there. */
  browser?: string;
}

/** Where a link opens something: on phones and tablets, or on computers. */
export type Platform = 'phone' | 'desktop';

/** What is paid, and the page that asks for it. */
export interface PageOrder extends PaymentOrder {
  /** The address of the page, for wallets that pay on pages in a browser of their own. */
  page_url: string;
  /** Where wallets ask for the payment to sign; null where they cannot get there by https. */
  transaction_url: string | null;
}

/** A link that a page offers: it opens a wallet with the whole payment filled in. */
export interface WalletLink {
  /** Null for the link that any installed wallet opens. */
  wallet: Wallet | null;
  href: string;
  opens_on: readonly Platform[];
}

/** How a page finds the wallets of the browser that shows it, and what it asks of them. */
export type PageWallets =
  /** Wallet Standard: wallets announce themselves by events. */
  | {
      protocol: 'standard';
      /** As wallets name it. */
      network: string;
      /** The feature that signs a transaction and sends it. */
      sends: string;
    }
  /** Wallets put an object into the page, which takes requests. */
  | {
      protocol: 'bridge';
      network: string;
      /** The property of what they put there that takes requests. */
      property: string;
      /** The items that a page asks for to learn the account, the first of which names it. */
      asks: readonly string[];
    };

/** What is paid, and the account that a wallet pays it from. */
export interface PayerOrder extends PaymentOrder {
  /** As the wallet names it. */
  payer: string;
  /** Unix seconds. */
  now: number;
}

/** A payment for a wallet to sign and send. Nothing of it is signed. */
export type Composed =
  /** One whole transaction, base64, and for how many seconds from now on the network takes it. */
  | { kind: 'transaction'; transaction: string; valid_seconds: number }
  /** What the wallet makes its own transaction of. */
  | {
      kind: 'messages';
      network: string;
      /** Unix seconds: a wallet sends nothing later. */
      valid_until: number;
      messages: ComposedMessage[];
    };

export interface ComposedMessage {
  address: string;
  /** Of the chain's coin, in atomic units. */
  amount: string;
  /** Base64. */
  payload: string;
}

/** An account that cannot make a payment; the message says why, without a trailing full stop. */
export class PayerError extends Error {
  override name = 'PayerError';
}

/** Something that reading asks for and a provider does not serve. */
export interface Lack {
  /** Whether something goes unseen without it; else it costs time or requests. */
  is_needed: boolean;
  /** One sentence without its full stop. */
  says: string;
}

/** How far one asset was read that is not read with the rest. */
export interface AssetPosition {
  /** Gateway id. */
  chain: string;
  height: number;
  /** Behind what was read of the rest, by the measured pace. */
  behind_seconds: number;
}

export interface Family {
  /** What it can be read from; a blockchain's default providers are of these kinds. */
  providers: readonly ProviderKind[];
  /** How its providers say that something happened; absent where none of them does. */
  hints?: HintFeed;
  /** Schemes of its payment links, besides https, without the colon. */
  uri_schemes: readonly string[];
  /** The one spelling of a transaction id that readings give; what cannot be one is returned trimmed. */
  normalizeTxid(text: string): string;
  /** The block height that a stored cursor stands at; null where it is none, or not of blocks. */
  cursorHeight(cursor: Json | null): number | null;
  /** Of these gateways of one blockchain, as its cursor was stored. Absent where all assets are read at once. */
  positions?(cursor: Json | null, gateways: readonly Gateway[]): readonly AssetPosition[];
  /** Whether the time of a fresh tip is the true time to within seconds, so that our own clock can be held against it. */
  keeps_time: boolean;
  /** Validates with checksums; throws AddressError. */
  normalizeAddress(text: string, network: Network): ChainAddress;
  /**
   * The key of a token contract as the settings name it, the same for every spelling; absent where they add no token to a
   * blockchain of this family. Throws AddressError.
   */
  contractKey?(text: string): string;
  paymentLinks(order: PaymentOrder): PaymentLinks;
  /** What pages offer, the wallet that is most likely there first; none that does not work on the order's network. */
  walletLinks(order: PageOrder): readonly WalletLink[];
  /** How pages find wallets in the browser, which are handed what `compose` makes; absent where they find none. */
  pageWallets?(network: Network): PageWallets;
  /**
   * The payment for the payer's wallet to sign, with memo and reference, and nothing else in it. Absent where wallets take
   * none. Throws AddressError for what is no account, PayerError for one that cannot pay, and ProviderError.
   */
  compose?(rpc: Rpc, order: PayerOrder): Promise<Composed>;
  /** Whether payments in the coin that contracts make go unseen on a network. Absent where all are seen. */
  misses_contracts?(network: Network): boolean;
  /** Makes a per-invoice reference from 32 random bytes; absent where the chain indexes none. */
  makeReference?(random: Uint8Array): string;
  /** Which network the provider serves; throws ProviderError. Asked once per provider URL. */
  identify(rpc: Rpc): Promise<Network>;
  /** What this provider does not serve of all that reading asks for. Absent where its tip tells enough. Throws ProviderError. */
  examine?(context: ReadContext): Promise<readonly Lack[]>;
  /** Begins to read a blockchain: a new reader has nothing cached of earlier readings. */
  open(): ChainReader;
  /**
   * Why an address cannot be a wallet though it is well-formed: a jetton wallet, a token account, a mint. Null where it
   * can, or where the chain has never met it. Absent where every well-formed address is one. Throws ProviderError.
   */
  inspectAddress?(rpc: Rpc, address_key: string): Promise<string | null>;
  /**
   * What the owner of an address should know before it is a wallet, in sentences; null where there is nothing. It refuses
   * nothing. Absent where no chain of the family has anything to say. Throws ProviderError.
   */
  warnOfAddress?(rpc: Rpc, address_key: string, network: Network): Promise<string | null>;
}
