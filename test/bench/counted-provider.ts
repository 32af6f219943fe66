// Quiet model chains behind a provider on loopback that counts what it is asked: in plain HTTP for those who may name any
// URL, and as a proxy that plays the provider's own host for those who take public HTTPS addresses only.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import { type Front, json } from '../simulator/chains/front.ts';
import { SolanaChain } from '../simulator/chains/solana.ts';
import { solanaNode } from '../simulator/chains/solana-node.ts';
import { TonChain } from '../simulator/chains/ton.ts';
import { toncenter } from '../simulator/chains/toncenter.ts';
import { Random } from '../simulator/random.ts';

const TON_BLOCK_MS = 2_500;
const PAGE_CAP = 1_000;
/** Longer than any run. */
const CERTIFICATE_DAYS = '2';

/** What both gateways can be paid in on a chain, and where its provider is. */
export interface CountedChain {
  blockchain: string;
  /** Where a client finds this provider that is left to its defaults. */
  public_host: string;
  front: Front;
}

export interface CountedProvider {
  url: string;
  /** Environment of a process that reaches the provider's public host and is answered here. */
  proxied: Record<string, string>;
  /** Requests until now. */
  asked(): number;
  stop(): Promise<void>;
}

/** TON as toncenter has it, with the list of jetton transfers that a wallet is asked for. */
export function quietTon(): CountedChain {
  const chain = new TonChain({ random: new Random('quiet'), now: Date.now, block_ms: TON_BLOCK_MS });
  for (const { token_contract } of gatewaysOf('testnet').filter(({ blockchain }) => blockchain === 'ton'))
    if (token_contract) chain.addJetton(token_contract);
  const front = toncenter({
    chain,
    view: () => ({
      tip_seqno: Math.max(chain.firstSeqno, chain.seqnoAt(Date.now())),
      shows: () => true,
      page_cap: PAGE_CAP,
      repeats_pages: false,
      lacks_masters: false,
    }),
  });
  return {
    blockchain: 'ton',
    public_host: 'toncenter.com',
    front: (request) =>
      request.path.endsWith('/jetton/transfers') ? json({ jetton_transfers: [] }) : front(request),
  };
}

/** Solana as a node has it, with the token accounts of an owner, each of which exists. */
export function quietSolana(): CountedChain {
  const chain = new SolanaChain({ random: new Random('quiet'), now: Date.now });
  for (const { token_contract } of gatewaysOf('testnet').filter(({ blockchain }) => blockchain === 'solana'))
    if (token_contract) chain.addMint(token_contract);
  const front = solanaNode({
    chain,
    view: () => ({
      slot: chain.slotAt(Date.now()),
      lists: () => true,
      gives: () => true,
      page_cap: PAGE_CAP,
    }),
    takes_confirmed: true,
  });
  const more: Record<string, (params: string[]) => unknown> = {
    getHealth: () => 'ok',
    getTokenAccountsByOwner: ([owner = '']) => ({ value: [{ pubkey: owner }] }),
  };
  return {
    blockchain: 'solana',
    public_host: 'api.mainnet.solana.com',
    front(request) {
      const call = JSON.parse(request.body ?? 'null') as { id: unknown; method: string; params: string[] };
      const answer = Array.isArray(call) ? undefined : more[call.method];
      return answer ? json({ jsonrpc: '2.0', id: call.id, result: answer(call.params) }) : front(request);
    },
  };
}

export async function startCountedProvider({ front, public_host }: CountedChain): Promise<CountedProvider> {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-provider-'));
  let asked = 0;
  const answer: RequestListener = async (request, response) => {
    asked++;
    let body = '';
    for await (const chunk of request) body += chunk;
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const method = request.method === 'POST' ? 'POST' : 'GET';
    const given = front({ method, path: pathname, query: searchParams, body: body || null });
    response.writeHead(given.status, { 'content-type': 'application/json', ...given.headers });
    response.end(given.body);
  };
  const plain = createServer(answer);
  const certificate = makeCertificate(directory, public_host);
  // Whatever else is fetched through the proxy, such as rates, is not there.
  const tls = createTlsServer(certificate.pair, (request, response) =>
    request.headers.host === public_host ? answer(request, response) : response.writeHead(404).end(),
  );
  const proxy = createServer().on('connect', (_request, socket: Socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    tls.emit('connection', socket);
  });
  const urls: string[] = [];
  for (const server of [plain, proxy]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
  const [url = '', proxy_url = ''] = urls;
  return {
    url,
    proxied: { HTTPS_PROXY: proxy_url, NODE_EXTRA_CA_CERTS: certificate.file },
    asked: () => asked,
    async stop() {
      for (const server of [plain, proxy, tls]) server.closeAllConnections();
      plain.close();
      proxy.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A certificate of one host that signs itself. Throws where `openssl` is absent. */
function makeCertificate(directory: string, host: string) {
  const [key, file] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const named = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`, '-days', CERTIFICATE_DAYS];
  execFileSync('openssl', [...made, ...named, '-keyout', key, '-out', file], { stdio: 'ignore' });
  return { file, pair: { key: readFileSync(key), cert: readFileSync(file) } };
}
