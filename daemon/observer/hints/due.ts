// When a transfer that was seen is deep enough for an invoice: then the next reading is worth while, and not before.
import type { Gateway, TransferUpdate } from '../../../src/chains/family.ts';
import type { Depth, Measure } from '../../../src/confirmations.ts';

/**
 * Seconds until it is as deep as the next invoice of its gateway may ask for, where blocks come at this pace; null where it is
 * as deep as any asks for, stands in no block, or no one knows.
 */
export function secondsUntilDeeper(
  gateway: Gateway,
  update: Pick<TransferUpdate, 'state'> & Depth,
  block_seconds: number,
): number | null {
  const { confirm_seconds, min_confirmations, confirmations_by_value: steps = [] } = gateway;
  if (gateway.is_found_by_luck || update.state !== 'pending' || update.height === null) return null;
  const own: Measure =
    confirm_seconds === undefined ? { blocks: min_confirmations } : { seconds: confirm_seconds };
  const waits = [own, ...steps]
    .map((measure) => secondsLeft(measure, gateway, update, block_seconds))
    .filter((left) => left > 0);
  return waits.length === 0 ? null : Math.min(...waits);
}

/** None where the depth is not known. */
function secondsLeft(
  { blocks, seconds, until }: Measure,
  { final_seconds = 0 }: Pick<Gateway, 'final_seconds'>,
  { confirmations, depth_seconds }: Depth,
  block_seconds: number,
): number {
  if (blocks !== undefined) return (blocks - confirmations) * block_seconds;
  if (depth_seconds == null) return 0;
  return (until ? final_seconds : (seconds ?? 0)) - depth_seconds;
}
