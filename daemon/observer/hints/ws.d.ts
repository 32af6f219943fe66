// The part of `ws` that is used; the package ships no types.
declare module 'ws' {
  interface Options {
    headers?: Record<string, string>;
    agent?: import('node:http').Agent | undefined;
    handshakeTimeout?: number;
    maxPayload?: number;
    maxFragments?: number;
    maxBufferedChunks?: number;
    perMessageDeflate?: boolean;
  }
  export class WebSocket {
    constructor(url: URL, options: Options);
    on(event: 'open' | 'ping' | 'pong', listener: () => void): this;
    on(event: 'message', listener: (data: Uint8Array, is_binary: boolean) => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    on(event: 'close', listener: (code: number) => void): this;
    readonly readyState: number;
    send(text: string): void;
    ping(): void;
    terminate(): void;
  }
  export class WebSocketServer {
    constructor(options: { port: number; host: string });
    on(event: 'listening', listener: () => void): this;
    on(event: 'connection', listener: (socket: WebSocket) => void): this;
    address(): { port: number };
    readonly clients: Set<WebSocket>;
    close(): void;
  }
}
