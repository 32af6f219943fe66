/** @jsxImportSource preact */
// The first page: what this is, whether it works, and where to read on. To programs the same as JSON.
import type { Raw } from '../../src/api/describe/endpoint.ts';
import type { App } from '../context.ts';
import { Prepared } from '../http/exchange.ts';
import { languageOfRequest } from './language.ts';
import { basePath, dressed, pageTemplate } from './page.tsx';
import { Icon, Merchant, rootClass } from './parts.tsx';
import { USUAL_THEME } from './theme.ts';

const PRODUCT = 'gatewayd';

/** Who runs it, as people read it. */
export const operatorOf = ({ config }: Pick<App, 'config'>): string =>
  config.operator_name ?? new URL(config.public_url).host;

/** Whether every blockchain that is sold for can be seen now. */
const isWell = (app: App): boolean =>
  !app.instance.draining() && app.gateways.every(({ blockchain }) => app.blindness.of(blockchain) === null);

/** JSON, unless a browser asks. */
export function landing(app: App, headers: Headers): Raw | Prepared {
  const shared = { vary: 'accept, accept-encoding, accept-language' };
  if (!headers.get('accept')?.includes('text/html')) {
    const type = { 'content-type': 'application/json', ...shared };
    return new Prepared({ status: 200, headers: type, body: JSON.stringify(landingJson(app)) });
  }
  const lang = languageOfRequest(headers);
  const base = basePath(app.config.public_url);
  const name = operatorOf(app);
  const well = isWell(app);
  const text = lang.say('landing_text', { name });
  const links = [
    ['/docs', lang.say('landing_docs')],
    ['/redoc', lang.say('landing_reference')],
    ['/llms.txt', lang.say('landing_agents')],
  ] as const;
  const render = () =>
    pageTemplate({
      lang,
      base,
      title: name,
      refresh: false,
      framed: false,
      about: {
        url: `${app.config.public_url}/`,
        description: text,
        indexed: true,
        picture: null,
        site: name,
      },
      content: (
        <div class={rootClass({ mode: 'page', size: 'md' })} lang={lang.code} dir={lang.dir}>
          <div class="card">
            <div class="what">
              <Merchant name={name} as="h1" />
              <p class="desc">{text}</p>
              <p class="desc">{lang.say('landing_buyer')}</p>
            </div>
            <div class="pay">
              <div class={`state ${well ? 'good' : 'warn'}`}>
                <Icon tone={well ? 'good' : 'warn'} />
                <p class="text">{lang.say(well ? 'landing_up' : 'landing_down')}</p>
              </div>
              {app.config.network !== 'mainnet' && <p class="note">{lang.say('testnet')}</p>}
              <p class="after">
                {links.map(([path, label]) => (
                  <a key={path} class="btn" href={base + path}>
                    {label}
                  </a>
                ))}
              </p>
            </div>
          </div>
        </div>
      ),
    });
  const { public_url } = app.config;
  const template = app.checkout.rendered(
    JSON.stringify(['landing', lang.code, well, public_url, name]),
    render,
  );
  const page = dressed(template, { theme: USUAL_THEME }, headers);
  return { ...page, headers: { ...page.headers, ...shared } };
}

function landingJson(app: App) {
  const { public_url, network } = app.config;
  return {
    name: PRODUCT,
    operator: operatorOf(app),
    network,
    well: isWell(app),
    health_url: `${public_url}/health`,
    catalog_url: `${public_url}/v1/catalog`,
    openapi_url: `${public_url}/api/v1/openapi.json`,
    manifest_url: `${public_url}/.well-known/agent.json`,
    llms_url: `${public_url}/llms.txt`,
    docs_url: `${public_url}/docs`,
  };
}
