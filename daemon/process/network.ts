// The network as the daemon uses it: what carries requests to providers and to receivers of webhooks; a simulator stands in for it.

export type ProxyOf = (url: URL) => URL | null;

export interface HttpLimits {
  /** From sending to the last byte of the answer. */
  timeout_ms: number;
  response_bytes: number;
}

/** What carries one request to a provider; rejects with what went wrong. */
export interface Transport {
  request(
    url: URL,
    options: {
      method: 'GET' | 'POST';
      headers: Record<string, string>;
      body: string | null;
      /** Of this answer, where that is less than of any. */
      response_bytes?: number;
    },
  ): Promise<{
    statusCode: number;
    headers: Record<string, string | string[] | undefined>;
    body: { bytes(): Promise<Uint8Array> };
  }>;
  close(): Promise<void>;
}

/** A connection for one request. */
export interface OutClient {
  request(options: {
    method: 'POST';
    path: string;
    headers: Record<string, string>;
    body: string;
  }): Promise<{ statusCode: number; body: AsyncIterable<Uint8Array> }>;
  /** Ends the request at any stage. */
  destroy(reason?: Error): Promise<void>;
}

/** One connection on which a provider says that something happened. */
export interface HintSocket {
  send(text: string): void;
  /** Asks for a sign of life, which comes as `onSign`. */
  ping(): void;
  /** Ends it at once; nothing is called afterwards. */
  close(): void;
}

export interface HintListener {
  onOpen(): void;
  onText(text: string): void;
  onSign(): void;
  /** It is over, or never began. Called once, and last. */
  onEnd(why: string): void;
}

export type OpenHintSocket = (
  url: URL,
  options: { headers: Record<string, string>; timeout_ms: number; proxyOf?: ProxyOf | undefined },
  listener: HintListener,
) => HintSocket;

/** What stands in for the network. */
export interface Network {
  /** Absent: no provider says that something happened. */
  toHints?: OpenHintSocket;
  toProvider(limits: HttpLimits): Transport;
  /** `origin`: scheme, host and port of a receiver of webhooks. */
  toReceiver(origin: string): OutClient;
}
