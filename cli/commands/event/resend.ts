// `gw event resend\`: sends an event to the webhook address again.
import { resendEvent } from '../../../src/api/endpoints/merchant.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(resendEvent, {
  args: ['event_id'],
  examples: ['gw event resend ID', 'gw event resend ID --json deliveries'],
  view: { columns: ['id', 'type', 'timestamp', 'deliveries'] },
});
