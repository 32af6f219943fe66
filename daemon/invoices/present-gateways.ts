// The gateways of a deployment as the wire shows them, alone and by blockchain.
import type { Gateway } from '../../src/chains/family.ts';
import { MEMO_LENGTH } from '../../src/memo.ts';
import type { App } from '../context.ts';
import { USD_PRECISION } from '../settings/public.ts';
import { availabilityOf } from './availability.ts';

/** The answer of `listGateways`. */
export function presentGateways(app: Pick<App, 'gateways' | 'config' | 'blindness'>) {
  const { gateways, config } = app;
  const data = gateways.map((gateway) => presentGateway(app, gateway));
  const { network, service_fee_percent } = config;
  return {
    data,
    groups: groupByBlockchain(data),
    count: data.length,
    network,
    service_fee_percent,
    default_fiat: 'USD' as const,
    usd_precision: USD_PRECISION,
    memo_length: MEMO_LENGTH,
  };
}

function presentGateway(app: Pick<App, 'config' | 'blindness'>, gateway: Gateway) {
  const { payable_decimals: _, unique_amount: __, family: ___, asset, ...described } = gateway;
  const { confirmations_by_value, ...shown } = described;
  const { steps, least } = confirmations_by_value ?? { steps: [], least: 0 };
  const confirmations = steps.map(({ below_usd = null, blocks }) => ({
    below_usd,
    blocks: Math.max(least, blocks),
  }));
  return {
    ...shown,
    confirmations,
    logo_url: logoUrl(app, asset.logo),
    ...availabilityOf(app, gateway.blockchain),
  };
}

const logoUrl = (app: Pick<App, 'config'>, name: string): string =>
  `${app.config.public_url}/logos/${name}.svg`;

function groupByBlockchain(data: ReturnType<typeof presentGateway>[]) {
  return [...new Set(data.map((gateway) => gateway.blockchain))].flatMap((id) => {
    const currencies = data.filter((gateway) => gateway.blockchain === id);
    const [first] = currencies;
    if (!first) return [];
    const native = currencies.find((gateway) => !gateway.is_token) ?? first;
    return { id, name: first.blockchain_name, logo_url: native.logo_url, network: first.network, currencies };
  });
}
