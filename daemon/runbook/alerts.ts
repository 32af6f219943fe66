// Alert rules for Prometheus: what of the metrics wakes an operator, and the section of the runbook for each.
import { RUNBOOK_PATH, sections } from './sections.ts';

/** `critical`: money or sales are at stake now; `warning`: before long; `info`: within a day or two. */
type Severity = 'critical' | 'warning' | 'info';

export interface Alert {
  name: string;
  expr: string;
  /** How long it holds before it is sent. */
  for: string;
  severity: Severity;
  summary: string;
}

/** Of several daemons, what all of them measure alike is sent once. */
const once = (expr: string, by = ''): string => (by === '' ? `max(${expr})` : `max by (${by}) (${expr})`);

export const alerts: readonly Alert[] = [
  {
    name: 'GatewaydDown',
    expr: 'up{job="gatewayd"} == 0 or absent(up{job="gatewayd"})',
    for: '2m',
    severity: 'critical',
    summary: 'gatewayd {{ $labels.instance }} does not answer',
  },
  {
    name: 'GatewaydRestarting',
    expr: 'changes(process_start_time_seconds{job="gatewayd"}[15m]) > 3',
    for: '0m',
    severity: 'critical',
    summary: 'gatewayd {{ $labels.instance }} is started again and again',
  },
  {
    name: 'GatewaydDatabaseDown',
    expr: 'gatewayd_database_up == 0',
    for: '1m',
    severity: 'critical',
    summary: 'the database does not answer {{ $labels.instance }}',
  },
  {
    name: 'GatewaydDatabaseNotWritable',
    expr: 'gatewayd_database_writable == 0 and gatewayd_database_up == 1',
    for: '1m',
    severity: 'critical',
    summary: 'the database takes no writes from {{ $labels.instance }}',
  },
  {
    name: 'GatewaydOutdated',
    expr: 'gatewayd_outdated == 1',
    for: '0m',
    severity: 'critical',
    summary: 'gatewayd {{ $labels.instance }} does nothing until it is upgraded: the schema is newer',
  },
  {
    name: 'GatewaydBlockchainBlind',
    expr: `${once('gatewayd_blockchain_blind', 'blockchain')} == 1`,
    for: '1m',
    severity: 'critical',
    summary: '{{ $labels.blockchain }} cannot be read: nothing is sold in its coins',
  },
  {
    name: 'GatewaydBlockchainLag',
    expr: `${once('gatewayd_blockchain_lag_seconds', 'blockchain')} > 600`,
    for: '5m',
    severity: 'warning',
    summary: '{{ $labels.blockchain }} was last read completely {{ $value | humanizeDuration }} ago',
  },
  {
    name: 'GatewaydProviderDown',
    expr: 'gatewayd_provider_down > 0',
    for: '30m',
    severity: 'info',
    summary:
      'provider {{ $labels.provider }} of {{ $labels.blockchain }} does not answer {{ $labels.instance }}',
  },
  {
    name: 'GatewaydRouteDead',
    expr: 'gatewayd_route_dead == 1',
    for: '15m',
    severity: 'warning',
    summary: '{{ $labels.instance }} cannot reach its providers of {{ $labels.blockchain }}: others read it',
  },
  {
    name: 'GatewaydDiskLow',
    expr: 'gatewayd_disk_free_bytes < 1073741824 or gatewayd_disk_free_bytes / gatewayd_disk_size_bytes < 0.05',
    for: '5m',
    severity: 'critical',
    summary: 'the disk for {{ $labels.place }} of {{ $labels.instance }} is nearly full',
  },
  {
    name: 'GatewaydBackupOld',
    expr: `${once('gatewayd_backup_age_seconds')} > ${once('gatewayd_backup_max_age_seconds')}`,
    for: '1h',
    severity: 'warning',
    summary: 'no backup was made for {{ $value | humanizeDuration }} (+Inf: never)',
  },
  {
    name: 'GatewaydClockWrong',
    expr: 'abs(gatewayd_clock_offset_seconds) > 30',
    for: '2m',
    severity: 'warning',
    summary: 'the clock of {{ $labels.instance }} is {{ $value }} s off the chains',
  },
  {
    name: 'GatewaydRatesMissing',
    expr: 'gatewayd_rates_missing > 0',
    for: '10m',
    severity: 'warning',
    summary: '{{ $value }} currencies have no rate: invoices in them are refused',
  },
  {
    name: 'GatewaydContradiction',
    expr: `${once('gatewayd_contradictions_open')} > 0`,
    for: '0m',
    severity: 'warning',
    summary: '{{ $value }} payments have sources that contradict each other',
  },
  {
    name: 'GatewaydWebhooksUndelivered',
    expr: `${once('gatewayd_webhooks_undelivered')} > 10`,
    for: '15m',
    severity: 'warning',
    summary: '{{ $value }} webhooks of the last day did not arrive',
  },
  {
    name: 'GatewaydWebhooksQueued',
    expr: `${once('gatewayd_webhooks_queued{status="pending"}')} > 100`,
    for: '10m',
    severity: 'warning',
    summary: '{{ $value }} webhooks wait to be sent',
  },
  {
    name: 'GatewaydNoticesUndelivered',
    expr: `${once('gatewayd_notices_undelivered', 'scheme')} > 0`,
    for: '5m',
    severity: 'warning',
    summary: '{{ $value }} notices to operators were not taken by {{ $labels.scheme }}',
  },
  {
    name: 'GatewaydPaymentsWaiting',
    expr: `${once('gatewayd_payments_waiting', 'blockchain, status')} > 0`,
    for: '1d',
    severity: 'info',
    summary:
      '{{ $value }} payments on {{ $labels.blockchain }} are {{ $labels.status }} and wait for a person',
  },
  {
    name: 'GatewaydDraining',
    expr: 'gatewayd_draining == 1',
    for: '30m',
    severity: 'info',
    summary: '{{ $labels.instance }} was drained and not started again',
  },
  {
    name: 'GatewaydSlow',
    expr: 'gatewayd_event_loop_delay_seconds{quantile="0.99"} > 0.5',
    for: '10m',
    severity: 'warning',
    summary: 'the event loop of {{ $labels.instance }} is {{ $value }} s late',
  },
];

/** The file of rules. A text in double quotes is YAML as it is JSON. */
export function alertRules(public_url: string): string {
  const rules = alerts.map(({ name, expr, for: lasts, severity, summary }) => {
    const anchor = sections.find((section) => section.alerts?.includes(name))?.anchor ?? '';
    return [
      `      - alert: ${name}`,
      `        expr: ${JSON.stringify(expr)}`,
      `        for: ${lasts}`,
      '        labels:',
      `          severity: ${severity}`,
      '        annotations:',
      `          summary: ${JSON.stringify(summary)}`,
      `          runbook_url: ${JSON.stringify(`${public_url}${RUNBOOK_PATH}#${anchor}`)}`,
    ].join('\n');
  });
  return `# Alert rules for gatewayd, whose job in Prometheus is to be called "gatewayd".
groups:
  - name: gatewayd
    rules:
${rules.join('\n')}
`;
}
