// Which addresses are of this machine.
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

export const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.test(hostname);

/** Whether what is sent there leaves this machine readable for all on the way. */
export const isPlain = (url: URL): boolean => url.protocol === 'http:' && !isLoopback(url);
