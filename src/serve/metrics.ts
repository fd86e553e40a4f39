/** GET /metrics: the same facts for Prometheus. Base units; labels only from bounded sets. */
import { createRequire } from 'node:module';
import type * as Prometheus from 'prom-client';
import type { ReceiveAccount } from '../receive/index.js';
import type { AntennaRow, ChainView, Status } from './messages.js';

/** Loaded when a page is served, since other commands do not need it. Node caches it. */
const prometheus = (): typeof Prometheus =>
  createRequire(import.meta.url)('prom-client') as typeof Prometheus;

const LATENCY_S = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];

/** Values read at each scrape. */
interface Scraped {
  readonly packets?: ReceiveAccount;
  readonly clockErrorS?: number;
  readonly antennas: readonly AntennaRow[];
  readonly status: Status;
  readonly chain: ChainView;
  readonly totals: { readonly integrations: number; readonly images: number };
  readonly newestFileUnixS?: number;
  readonly residual?: number;
  readonly unsolvedInputs?: number;
}

export class Metrics {
  private readonly registry = new (prometheus().Registry)();
  private readonly latency = this.histogram('corella_latency_seconds', 'From the last sample to here', [
    'stage',
  ]);
  private readonly lateness = this.histogram(
    'corella_receive_lateness_seconds',
    'Arrival of a block less the time of its first sample',
    [],
  );
  private readonly requests = this.histogram('corella_http_request_seconds', 'Requests answered', ['route']);
  /** Counters whose totals are kept elsewhere. */
  private readonly seen = new Map<string, number>();

  constructor(private readonly scrape: () => Scraped) {}

  readonly observeLatency = (stage: string, seconds: number): void => {
    this.latency.observe({ stage }, Math.max(0, seconds));
  };
  readonly observeLateness = (seconds: number): void => {
    this.lateness.observe(Math.abs(seconds));
  };
  readonly observeRequest = (route: string, seconds: number): void => {
    this.requests.observe({ route }, seconds);
  };

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    const { packets, antennas, status, chain, totals, ...rest } = this.scrape();
    this.counter('corella_integrations_written_total', 'Written to files', status.recording.written);
    this.counter('corella_integrations_total', 'Finished', totals.integrations);
    this.counter('corella_images_total', 'Made', totals.images);
    if (packets) this.ofPackets(packets, status.session ?? 0);
    if (rest.clockErrorS !== undefined)
      this.gauge('corella_receive_clock_error_seconds', 'Arrival less packet time', rest.clockErrorS);
    if (chain.ring) {
      const { waiting, blocks } = chain.ring;
      this.gauge('corella_ring_blocks', 'Blocks by what they do', blocks - waiting, { state: 'free' });
      this.gauge('corella_ring_blocks', 'Blocks by what they do', waiting, { state: 'full' });
    }
    for (const { resource, ratio } of chain.load)
      this.gauge('corella_load_ratio', 'Of what there is', ratio, { resource });
    for (const { name, inputs } of antennas) {
      for (const { polarisation, levelDb, presentPercent, flagged } of inputs) {
        const input = polarisation === '' ? name : `${name}:${polarisation}`;
        const rms = levelDb === null ? NaN : 10 ** (levelDb / 20);
        this.gauge('corella_input_rms', 'Of a channelised sample', rms, { input });
        this.gauge('corella_input_present_ratio', 'Samples that came', presentPercent / 100, { input });
        this.gauge('corella_input_flagged', '1 where left out', flagged ? 1 : 0, { input });
      }
    }
    if (status.gains.ageS !== undefined)
      this.gauge('corella_gain_age_seconds', 'Since they were solved', status.gains.ageS);
    if (rest.residual !== undefined)
      this.gauge('corella_gain_residual_ratio', 'Of the data that gains leave unexplained', rest.residual);
    if (rest.unsolvedInputs !== undefined)
      this.gauge('corella_gain_unsolved_inputs', 'Without a gain', rest.unsolvedInputs);
    if (rest.newestFileUnixS !== undefined)
      this.gauge('corella_file_newest_timestamp_seconds', 'When a file last grew', rest.newestFileUnixS);
    if (chain.diskFreeBytes !== undefined)
      this.gauge('corella_disk_free_bytes', 'Where files are written', chain.diskFreeBytes);
    this.gauge('corella_alarms', 'Up now', status.alarms.warnings, { severity: 'warning' });
    this.gauge('corella_alarms', 'Up now', status.alarms.alarms, { severity: 'alarm' });
    this.gauge('corella_page_clients', 'Pages that are open', status.clients);
    this.counter('corella_page_dropped_messages_total', 'Not sent to slow pages', chain.droppedMessages);
    return this.registry.metrics();
  }

  private ofPackets(account: ReceiveAccount, session: number): void {
    const { senders, resyncs, refusedResyncs, outcomes, bytes, socket, surveyed } = account;
    for (const { name: source, outcomes: own, missingCells, newestTick } of senders) {
      const placed = 'corella_receive_packets_total';
      this.counter(placed, 'Packets placed', own.placed, { source });
      for (const [reason, count] of Object.entries(own)) {
        if (reason !== 'placed')
          this.counter('corella_receive_dropped_packets_total', 'By reason', count, { source, reason });
      }
      this.counter('corella_receive_missing_packets_total', 'Never placed', missingCells, { source });
      if (newestTick !== undefined)
        this.gauge('corella_receive_newest_tick', "Of the sender's clock", Number(newestTick), { source });
    }
    for (const reason of ['misaligned', 'unknown_source', 'invalid', 'control'] as const)
      this.counter('corella_receive_dropped_packets_total', 'By reason', outcomes[reason], {
        source: '',
        reason,
      });
    if (socket?.kernelDrops !== undefined)
      this.counter('corella_receive_dropped_packets_total', 'By reason', socket.kernelDrops, {
        source: '',
        reason: 'kernel',
      });
    this.counter('corella_receive_bytes_total', 'Of payload and header', bytes);
    this.counter('corella_receive_resyncs_total', 'New sessions', resyncs);
    this.counter('corella_receive_refused_resyncs_total', 'Jumps that were not followed', refusedResyncs);
    if (surveyed)
      this.counter('corella_receive_surveyed_packets_total', 'Before receiving began', surveyed.packets);
    this.gauge('corella_receive_session', 'Number of the session', session);
  }

  private histogram(name: string, help: string, labelNames: string[]): Prometheus.Histogram {
    return new (prometheus().Histogram)({
      name,
      help,
      labelNames,
      buckets: LATENCY_S,
      registers: [this.registry],
    });
  }

  private gauge(name: string, help: string, value: number, labels: Record<string, string> = {}): void {
    const known = this.registry.getSingleMetric(name) as Prometheus.Gauge | undefined;
    const gauge =
      known ??
      new (prometheus().Gauge)({ name, help, labelNames: Object.keys(labels), registers: [this.registry] });
    gauge.set(labels, value);
  }

  /** Advances a counter to its current total. */
  private counter(name: string, help: string, total: number, labels: Record<string, string> = {}): void {
    const known = this.registry.getSingleMetric(name) as Prometheus.Counter | undefined;
    const counter =
      known ??
      new (prometheus().Counter)({ name, help, labelNames: Object.keys(labels), registers: [this.registry] });
    const key = `${name} ${Object.values(labels).join(' ')}`;
    counter.inc(labels, Math.max(0, total - (this.seen.get(key) ?? 0)));
    this.seen.set(key, total);
  }
}
