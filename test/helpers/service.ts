// How tests speak HTTP to a daemon: what they send and what they get back.

export interface Call {
  token?: string;
  key?: string;
  /** Texts and bytes go as they are, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what the wire carries
  json: any;
}

export interface Service {
  /** Throws where the answer is not what its endpoint describes. Of a stream, the first piece is the text. */
  fetch(method: string, path: string, call?: Call): Promise<Reply>;
}
