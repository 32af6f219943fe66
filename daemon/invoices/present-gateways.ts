// The gateways of a deployment as the wire shows them, alone and by blockchain.
import type { Gateway } from '../../src/chains/family.ts';
import { blocksIn, waitOf } from '../../src/confirmations.ts';
import { MEMO_LENGTH } from '../../src/memo.ts';
import type { App } from '../context.ts';
import { USD_PRECISION } from '../settings/public.ts';
import { availabilityOf } from './availability.ts';

/** The answer of `listGateways`. */
export function presentGateways(app: Pick<App, 'gateways' | 'config' | 'blindness' | 'pace'>) {
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

function presentGateway(app: Pick<App, 'config' | 'blindness' | 'pace'>, gateway: Gateway) {
  const { payable_decimals: _, unique_amount: __, family: ___, asset, ...described } = gateway;
  const { confirmations_by_value: steps = [], ...others } = described;
  const { block_seconds: _usual, final_seconds: _final, is_found_by_luck: _luck, ...shown } = others;
  const usual = { ...gateway, block_seconds: app.pace.of(gateway.blockchain) };
  const { confirm_seconds = null } = gateway;
  const confirmations = steps.map((step) => ({
    below_usd: step.below_usd ?? null,
    blocks: waitOf(step, usual).min_confirmations,
    seconds: step.seconds ?? null,
    until: step.until ?? null,
  }));
  const own =
    confirm_seconds === null ? gateway.min_confirmations : blocksIn(confirm_seconds, usual.block_seconds);
  return {
    ...shown,
    min_confirmations: Math.max(own, ...confirmations.map(({ blocks }) => blocks)),
    confirm_seconds,
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
