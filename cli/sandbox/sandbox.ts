// A whole sandbox: a chain, a daemon in demo mode that reads it, a merchant, and a receiver of its webhooks.
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ClientCall, createCall, type Send } from '../../src/api/client/call.ts';
import { creditMerchant } from '../../src/api/endpoints/admin.ts';
import { loginAccessToken } from '../../src/api/endpoints/login.ts';
import {
  getMerchantAccount,
  setMerchantWallet,
  updateMerchantAccount,
} from '../../src/api/endpoints/merchant.ts';
import { getMe, signup } from '../../src/api/endpoints/users.ts';
import { openChain, openNode, type StoredChain, sandbox } from '../../src/chains/sandbox.ts';
import { GwError, toGwError } from '../engine/errors.ts';
import { fetchService } from '../engine/transport.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { type Fixture, fixtureOf, recordingFetch, writeFixture } from './fixture.ts';
import { isTriggerKind } from './kinds.ts';
import { type Delivery, openReceiver } from './receiver.ts';
import { type Asked, type Ground, type Outcome, trigger } from './scenarios.ts';
import { listenLocally, type Reply } from './server.ts';

const EMAIL = 'merchant@example.com';
const OPERATOR = 'operator@example.com';
const CREDIT_USD = '100';
const SECRET_BYTES = 24;
/** A file that the daemon was about to make may still come. */
const REMOVALS = 5;

/** What a given directory keeps from one run to the next. */
interface Stored {
  chain?: StoredChain;
  password: string;
  webhook_secret: string;
}

/** What came of a trigger, with the whole of it where that was asked for. */
export interface Made extends Outcome {
  fixture?: Fixture;
}

export interface Sandbox {
  url: string;
  email: string;
  token: string;
  api_key: string;
  webhook_secret: string;
  /** Where `gw trigger` asks; holds a secret of its own. */
  trigger_url: string;
  call: ClientCall;
  trigger(asked: Asked): Promise<Made>;
  refuseNext(): void;
  refuses(): boolean;
  /** Resolves when its daemon has ended. */
  ended: Promise<number | null>;
  close(): void;
}

export interface SandboxOptions {
  /** A temporary one by default. */
  data_dir: string | undefined;
  port: number;
  /** Where webhooks are handed on to. */
  forward_to: string | undefined;
  /** Where what is triggered is written to. */
  record_dir: string | undefined;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  onDelivery(delivery: Delivery): void;
}

const random = (): string => randomBytes(SECRET_BYTES).toString('base64url');

export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { data_dir, port, forward_to, record_dir, env, signal, onDelivery } = options;
  const dir = data_dir === undefined ? mkdtempSync(join(tmpdir(), 'gw-dev-')) : resolve(data_dir);
  const stored = storeIn(dir);
  const { password, webhook_secret } = stored;
  const chain = openChain({
    stored: stored.chain,
    save: (chain) => write(dir, { ...stored, chain }),
    now: Date.now,
    random: randomBytes,
  });
  const mints = sandbox.gateways.flatMap(({ token_contract }) => token_contract ?? []);
  const node = openNode(chain, new Set(mints));
  const receiver = openReceiver(webhook_secret, forward_to, onDelivery);
  let run = (_: Asked): Promise<Made> => Promise.reject(new GwError('retry', 'the sandbox is starting'));
  const trigger_path = `/trigger/${random()}`;
  const server = await listenLocally({
    '/chain': (body) => ({ status: 200, body: node(JSON.parse(body)) }),
    '/webhook': async (body, headers) => ({ status: await receiver.take(headers, body) }),
    [trigger_path]: (body) => answerTrigger((asked) => run(asked), body),
  });
  let daemon: Daemon | undefined;
  const close = () => {
    process.off('exit', close);
    // What is thrown away need not be written to its end.
    daemon?.kill(data_dir === undefined ? 'SIGKILL' : 'SIGTERM');
    server.close();
    if (data_dir === undefined) rmSync(dir, { recursive: true, force: true, maxRetries: REMOVALS });
  };
  // A signal ends gw at once: the daemon goes with it.
  process.on('exit', close);
  try {
    const operator = { email: OPERATOR, password };
    daemon = await startDaemon({ dir, port, chain_url: `${server.url}/chain`, operator, env });
    const merchant = await openMerchant(daemon.url, stored, `${server.url}/webhook`);
    const { refuseNext, refuses } = receiver;
    run = async (asked) => {
      const requests: Fixture['requests'] = [];
      const ground: Ground = {
        call: merchant.callBy(recordingFetch(requests)),
        chain,
        signal,
        refuseNext,
      };
      const outcome = await trigger(ground, asked);
      if (asked.record !== true && record_dir === undefined) return outcome;
      const fixture = await fixtureOf(ground, outcome, { requests, receiver, webhook_secret });
      if (record_dir !== undefined) writeFixture(record_dir, fixture);
      return { ...outcome, ...(asked.record === true ? { fixture } : {}) };
    };
    const { url, ended } = daemon;
    const trigger_url = server.url + trigger_path;
    return {
      url,
      email: EMAIL,
      webhook_secret,
      trigger_url,
      ended,
      refuseNext,
      refuses,
      close,
      ...merchant,
      call: merchant.callBy(fetchService),
      trigger: run,
    };
  } catch (error) {
    close();
    throw error;
  }
}

const fileIn = (dir: string): string => join(dir, 'sandbox.json');

const write = (dir: string, stored: Stored): void =>
  writeFileSync(fileIn(dir), JSON.stringify(stored), { mode: 0o600 });

/** What the directory has; made where it has nothing. Refuses one that is used for something else. */
function storeIn(dir: string): Stored {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (existsSync(fileIn(dir))) return JSON.parse(readFileSync(fileIn(dir), 'utf8')) as Stored;
  if (readdirSync(dir).length > 0)
    throw new GwError('config', `${dir} is not empty, and holds no sandbox`, {
      hint: '--data-dir takes a new directory, or one of an earlier gw dev',
    });
  const key = randomBytes(SECRET_BYTES).toString('base64');
  const stored = { password: random(), webhook_secret: `whsec_${key}` };
  write(dir, stored);
  return stored;
}

/** The merchant, signed in; made at the first start, with a wallet and enough prepaid. */
async function openMerchant(base_url: string, { password, webhook_secret }: Stored, webhook_url: string) {
  const callAs = (credentials: { token?: string; api_key?: string }) =>
    createCall({ base_url, fetch: fetchService, ...credentials });
  const signIn = async (username: string) => {
    const body = { username, password };
    const { access_token: token } = await callAs({})(loginAccessToken, { body });
    return { token, signed_in: callAs({ token }) };
  };
  const first = await signIn(EMAIL).then(
    () => false,
    () => true,
  );
  if (first) await callAs({})(signup, { body: { email: EMAIL, password } });
  const { token, signed_in } = await signIn(EMAIL);
  if (first) {
    const { id: user_id } = await signed_in(getMe);
    const operator = await signIn(OPERATOR);
    const credit = { prepaid_usd: CREDIT_USD, note: 'sandbox' };
    await operator.signed_in(creditMerchant, { params: { user_id }, body: credit });
    await signed_in(setMerchantWallet, { body: { blockchain: sandbox.blockchain, address: sandbox.wallet } });
  }
  await signed_in(updateMerchantAccount, { body: { webhook_url, webhook_secret } });
  const { api_key } = await signed_in(getMerchantAccount);
  const callBy = (by: Send) => createCall({ base_url, fetch: by, token, api_key });
  return { token, api_key, callBy };
}

/** What `gw trigger` is answered: what came of it, or why nothing did. */
async function answerTrigger(run: (asked: Asked) => Promise<Made>, body: string): Promise<Reply> {
  const { kind, invoice_id, amount_usd, record } = JSON.parse(body) as Partial<Asked>;
  if (kind === undefined || !isTriggerKind(kind)) return { status: 404 };
  try {
    return { status: 200, body: await run({ kind, invoice_id, amount_usd, record }) };
  } catch (error) {
    const known = toGwError(error);
    if (!known) throw error;
    const { code, hint, extra } = known.details;
    return { status: 409, body: { kind: known.kind, message: known.message, code, hint, extra } };
  }
}
