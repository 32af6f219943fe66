// The catalog as text: Markdown, llms.txt, llms-full.txt, robots.txt, sitemap.xml.
import { type CatalogItem, type Deployment, type Kind, select } from './catalog.ts';

const NAME = 'gatewayd';
export const SUMMARY =
  'Non-custodial crypto payment gateway: merchants sell for USD prices, buyers pay on-chain straight into the merchant’s own wallet, the service observes the chain and confirms.';

const headings: Record<Kind, string> = {
  flow: 'Flows',
  endpoint: 'Endpoints',
  concept: 'Concepts',
  guide: 'Guides',
  page: 'Pages',
  embed: 'Embeds',
};

function entryText(entry: CatalogItem): string {
  const { id, title, summary, auth, method, path, steps, call, docs } = entry;
  const about = [
    path ? `\`${method} ${path}\`` : '',
    `auth: ${auth}`,
    entry.extension ? 'an extension' : '',
    entry.hidden ? 'for operators' : '',
  ].filter((text) => text !== '');
  const body = docs ?? (call ? `\`\`\`sh\n${call.curl}\n\`\`\`` : '');
  return [
    `### ${title}`,
    `\`${id}\` · ${about.join(' · ')}`,
    docs ? '' : summary,
    steps ? `Steps: ${steps.map((step) => `\`${step}\``).join(' → ')}` : '',
    body,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

const indexLine = ({ title, url, summary, auth }: CatalogItem): string =>
  `- [${title}](${url}): ${summary} (${auth})`;

const isBrief = (entry: CatalogItem): boolean => entry.call === undefined;

/** Entries under a heading for each kind; brief ones as one line each. */
export function markdown({ base_url }: Deployment, entries: readonly CatalogItem[]): string {
  const parts = [`# ${NAME}`, `> ${SUMMARY}`, `Base URL: ${base_url}`];
  for (const [kind, heading] of Object.entries(headings)) {
    const here = entries.filter((entry) => entry.kind === kind);
    if (here.length === 0) continue;
    parts.push(`## ${heading}`);
    if (here.every(isBrief)) parts.push(here.map(indexLine).join('\n'));
    else parts.push(...here.map(entryText));
  }
  return `${parts.join('\n\n')}\n`;
}

const link = (name: string, url: string, notes: string): string => `- [${name}](${url}): ${notes}`;

/** How one gets an account, in one sentence. */
function signUpText({ base_url, signup }: Deployment): string {
  if (signup === 'closed') return 'Sign-up is closed: the operator makes accounts.';
  const invited = signup === 'invite' ? ' and the `invite` that the operator gave you' : '';
  return `Sign up with \`POST ${base_url}/api/v1/users/signup\`${invited}.`;
}

/** The index that llmstxt.org describes: title, summary, sections of links. */
export function llmsTxt(deployment: Deployment, entries: readonly CatalogItem[]): string {
  const { base_url, network } = deployment;
  const of = (kind: Kind) => select(entries, { kind });
  const lines = (kind: Kind) => of(kind).map(({ title, url, summary }) => link(title, url, summary));
  const catalog = `${base_url}/v1/catalog`;
  const text = (kind: Kind) => `${catalog}?kind=${kind}&format=markdown&include_docs=true`;
  return `# ${NAME}

> ${SUMMARY}

Network: ${network}. No CAPTCHA, no browser, no identity checks: agents are first-class clients. ${signUpText(deployment)} To find a call, ask \`GET ${base_url}/v1/search?q=\` in plain words; to do a whole task, take a flow and make the calls of its \`steps\`. Values in braces come from earlier replies, as \`placeholders\` of the catalog explains. Refusals carry \`code\`, \`hint\` and \`next\`.

## Start

${[
  link('Flows as JSON', `${catalog}?kind=flow`, 'whole tasks as steps'),
  link('Endpoints as JSON', `${catalog}?kind=endpoint`, 'every call, ready to make, with curl and gw'),
  link('Search', `${base_url}/v1/search?q=create+an+invoice`, 'from intent to call; tolerates typos'),
  link('OpenAPI 3.1', `${base_url}/api/v1/openapi.json`, 'all operations and schemas'),
  link('Manifest', `${base_url}/.well-known/agent.json`, 'all addresses, and how to sign in'),
  link('Public configuration', `${base_url}/v1/config/public`, 'network, demo mode, fees'),
].join('\n')}

## Flows

${lines('flow').join('\n')}

## Guides

${lines('guide').join('\n')}

## Optional

${[
  link('Full text', `${base_url}/llms-full.txt`, 'everything in one file'),
  link(
    'Concepts',
    text('concept'),
    of('concept')
      .map(({ title }) => title)
      .join('; '),
  ),
  link('Endpoints to read', text('endpoint'), 'the reference as Markdown'),
  link('Swagger UI', `${base_url}/docs`, 'try calls in a browser'),
  link('ReDoc', `${base_url}/redoc`, 'the reference in a browser'),
].join('\n')}
`;
}

/** What crawlers may read: everything public but the pages of single invoices. */
export const robotsTxt = ({ base_url }: Deployment): string => `User-agent: *
Allow: /
Disallow: /pay/
Disallow: /v1/pay/
Disallow: /v1/invoices/
Disallow: /v1/public/
Disallow: /api/v1/merchant/
Disallow: /api/v1/admin/

Sitemap: ${base_url}/sitemap.xml
`;

export interface SitemapUnit {
  merchant_slug: string;
  unit_slug: string;
  /** Unix seconds. */
  updated_at: number;
}

/** Pages of discovery and of active units that are listed. */
export function sitemapXml({ base_url }: Deployment, units: readonly SitemapUnit[]): string {
  const fixed = [
    '/',
    '/docs',
    '/redoc',
    '/llms.txt',
    '/llms-full.txt',
    '/v1/catalog',
    '/api/v1/openapi.json',
  ];
  const urls = [
    ...fixed.map((path) => `  <url><loc>${base_url}${path}</loc></url>`),
    ...units.map(({ merchant_slug, unit_slug, updated_at }) => {
      const day = new Date(updated_at * 1000).toISOString().slice(0, 10);
      return `  <url><loc>${base_url}/u/${merchant_slug}/${unit_slug}</loc><lastmod>${day}</lastmod></url>`;
    }),
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.join('\n')}
</urlset>
`;
}

/** The manifest: where everything is, and how to get in. */
export function manifest(deployment: Deployment, version: string) {
  const { base_url, network, signup = 'open' } = deployment;
  return {
    name: NAME,
    description: SUMMARY,
    version,
    url: base_url,
    network,
    openapi: `${base_url}/api/v1/openapi.json`,
    catalog: `${base_url}/v1/catalog`,
    search: `${base_url}/v1/search?q={query}`,
    flows: `${base_url}/v1/catalog?kind=flow`,
    llms_txt: `${base_url}/llms.txt`,
    llms_full_txt: `${base_url}/llms-full.txt`,
    sitemap: `${base_url}/sitemap.xml`,
    docs: [`${base_url}/docs`, `${base_url}/redoc`],
    mcp: { transport: 'streamable-http', url: `${base_url}/mcp` },
    config: `${base_url}/v1/config/public`,
    health: `${base_url}/health`,
    signup: { method: 'POST', url: `${base_url}/api/v1/users/signup`, mode: signup },
    authentication: [
      { id: 'none', used_for: 'buyers and discovery' },
      {
        id: 'jwt',
        header: 'Authorization: Bearer {access_token}',
        from: { method: 'POST', url: `${base_url}/api/v1/login/access-token` },
        used_for: 'account, wallets, units, refills',
      },
      {
        id: 'key',
        header: 'X-API-Key: {api_key}',
        from: { method: 'GET', url: `${base_url}/api/v1/merchant/account` },
        used_for: 'invoices',
      },
    ],
    policy: { captcha: false, browser_required: false, identity_verification: false },
  };
}
