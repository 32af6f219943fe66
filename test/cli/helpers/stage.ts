// What the tests of gw stand on: a built daemon, a merchant who is paid on TON, and an operator.
import { type Home, makeHome } from '../../daemon/helpers/process.ts';
import { PASSWORD, wallets } from '../../helpers/people.ts';
import { type Gw, makeGw } from './gw.ts';

const OPERATOR = { email: 'operator@example.com', password: 'operator password' };

export interface Stage {
  home: Home;
  daemon_url: string;
  /** The merchant's gw; the password is `PASSWORD`. */
  gw: Gw;
  /** One whose profile has no credentials; `logInOperator` gives it the operator's. */
  other: Gw;
  close(): Promise<void>;
}

/** `env`: settings of the daemon besides. */
export async function openStage(email: string, env: Record<string, string> = {}): Promise<Stage> {
  const home = makeHome();
  const { url } = await home.start({
    env: { GATEWAYD_ADMIN_EMAIL: OPERATOR.email, GATEWAYD_ADMIN_PASSWORD: OPERATOR.password, ...env },
  });
  const [gw, other] = [makeGw(url), makeGw(url)];
  await gw(['signup', '--email', email, '--password', '-'], { stdin: PASSWORD });
  await gw(['wallet', 'set', 'ton', wallets.ton ?? '']);
  return {
    home,
    daemon_url: url,
    gw,
    other,
    async close() {
      gw.remove();
      other.remove();
      await home.remove();
    },
  };
}

export const logInOperator = (gw: Gw) =>
  gw(['login', OPERATOR.email, '--password-stdin'], { stdin: OPERATOR.password });
