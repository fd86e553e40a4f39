/**
 * LWA-SV's correlator output, COR: a frame is one baseline over some channels, complex64 [channel][pol][pol] averaged
 * over the integration. Stands count from 1. The frames have no positions: the telescope gives them.
 */
import { baselineCount, baselineIndex } from '../../../core/axes.js';
import type { Integration } from '../../../core/blocks.js';
import { recurring } from '../../../core/recurring.js';
import { refuse } from '../../../core/errors.js';
import { skyFrame } from '../../../sky/frame.js';
import { loadTelescope } from '../../../telescope/load.js';
import type { Telescope } from '../../../telescope/telescope.js';
import type { OpenOptions, VisibilityFile } from '../../format.js';
import { emptyTally, plausibleSamples, readFrames } from '../frames.js';
import type { InputFile } from '../../io/input.js';
import {
  CLOCK_HZ,
  emptyIntegration,
  headerBytes,
  instantOfTag,
  lwaReading,
  headersAtEnds,
  type LwaShape,
} from './frame.js';
import { tagSpan } from './times.js';

const CHANNEL_WIDTH_HZ = CLOCK_HZ / 8192;
/** The header counts integrations in steps of 10 ms. */
const STEP_S = 0.01;
const STEP_TICKS = CLOCK_HZ / 100;
const POLARISATIONS = 2;
/** Frames of two integrations may be interleaved; the first frame of a third closes the oldest. */
const OPEN_INTEGRATIONS = 2;

interface CorHeader {
  readonly firstChannel: number;
  readonly tag: bigint;
  readonly steps: number;
  readonly one: number;
  readonly two: number;
}
/** Skips an integration of which the file holds less than a thousandth: it is not worth the memory. */
const [SMALL_BYTES, MOST_BYTES_PER_BYTE] = [2 ** 24, 1024];

const corHeader = (view: DataView, at: number): CorHeader => ({
  firstChannel: view.getUint16(at + 12),
  tag: view.getBigUint64(at + 16),
  steps: view.getUint32(at + 24),
  one: view.getUint16(at + 28) - 1,
  two: view.getUint16(at + 30) - 1,
});

/** A frame valid in all else is of another telescope: its stands are not dropped silently. */
function refuseBeyond(path: string, stand: number, { name, stations }: Telescope): void {
  if (stand < stations.length) return;
  refuse(
    path,
    `holds frames of stand ${stand + 1}, and ${name} has ${stations.length} stands`,
    'name the telescope whose stands these are with telescope: NAME',
  );
}

export async function openCor(
  file: InputFile,
  shape: LwaShape,
  options: OpenOptions,
): Promise<VisibilityFile> {
  const { path } = file;
  const telescope = options.telescope ?? (await loadTelescope('lwasv'));
  const stations = telescope.stations.length;
  const seen = await headersAtEnds(file, shape, corHeader);
  const perFrame = (shape.frameBytes - headerBytes.cor) / 32;
  const groups = recurring(seen.map((header) => header.firstChannel)).filter(
    (first, k, all) => k === 0 || first >= all[k - 1] + perFrame,
  );
  const channels = groups.length * perFrame;
  const steps = recurring(seen.map((header) => header.steps))[0];
  if (steps < 1) refuse(path, 'its integrations last no time', 'it is damaged');
  for (const { one, two, ...header } of seen) {
    const isSound = header.steps === steps && groups.includes(header.firstChannel) && one >= 0 && one <= two;
    if (isSound) refuseBeyond(path, two, telescope);
  }
  const durationS = steps * STEP_S;
  const ticks = steps * STEP_TICKS;
  const span = tagSpan(
    seen.map((header) => header.tag),
    16 * ticks,
  );
  const integrationCount = plausibleSamples(
    path,
    Math.round(span.lastTicks / ticks) + 1,
    Math.ceil(file.sizeBytes / shape.frameBytes),
  );
  const baselines = baselineCount(stations);
  const valuesBytes = 8 * 2 * POLARISATIONS ** 2 * channels * baselines;
  if (valuesBytes > SMALL_BYTES + MOST_BYTES_PER_BYTE * file.sizeBytes)
    refuse(
      path,
      `holds ${file.sizeBytes} bytes of integrations that would take ${valuesBytes} each`,
      `it is cut short; or name the telescope of its stands with telescope: NAME (${telescope.name} has ${stations})`,
    );
  const samples = Math.round(durationS * CHANNEL_WIDTH_HZ);
  const frequenciesHz = Float64Array.from(
    { length: channels },
    (_, c) => (groups[Math.floor(c / perFrame)] + (c % perFrame)) * CHANNEL_WIDTH_HZ,
  );
  const tally = emptyTally();
  // Here a frame's `firstSample` is its integration, its sender the group of channels, its `samples` the baseline.
  const reading = lwaReading(file, shape, tally, (view, at, payload) => {
    const header = corHeader(view, at);
    const sender = groups.indexOf(header.firstChannel);
    const when = Number(header.tag - span.first) / ticks;
    const isPair = header.one >= 0 && header.one <= header.two;
    if (sender < 0 || !isPair || !Number.isInteger(when) || when < 0 || when >= integrationCount)
      return 'invalid';
    refuseBeyond(path, header.two, telescope);
    return { sender, firstSample: when, samples: baselineIndex(header.two, header.one), payload };
  });

  const empty = (when: number): Integration =>
    emptyIntegration(
      { start: instantOfTag(span.first + BigInt(when * ticks)), durationS },
      channels,
      stations,
    );

  /** The frame holds V₁₂ with stand 1 ≤ stand 2; we store V₂₁ = its conjugate, polarisations exchanged. */
  const place = (into: Integration, sender: number, baseline: number, payload: Uint8Array): void => {
    const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
    for (let at = 0; at < payload.length; at += 4) {
      if (Number.isFinite(view.getFloat32(at, true))) continue;
      tally.invalid++;
      return;
    }
    tally.frames++;
    for (let k = 0; k < perFrame; k++) {
      const cell = (sender * perFrame + k) * baselines + baseline;
      into.counts[cell] = samples;
      for (let one = 0; one < POLARISATIONS; one++) {
        for (let two = 0; two < POLARISATIONS; two++) {
          const from = (k * 4 + one * POLARISATIONS + two) * 8;
          const to = (cell * 4 + two * POLARISATIONS + one) * 2;
          into.visibilities[to] = view.getFloat32(from, true) * samples;
          into.visibilities[to + 1] = -view.getFloat32(from + 4, true) * samples;
        }
      }
    }
  };

  async function* integrations(): AsyncGenerator<Integration> {
    Object.assign(tally, emptyTally());
    const open = new Map<number, Integration>();
    let next = 0;
    for await (const frames of readFrames(reading)) {
      for (const { sender, firstSample: when, samples: baseline, payload } of frames) {
        if (when < next) {
          tally.late++;
          continue;
        }
        let into = open.get(when);
        if (!into) open.set(when, (into = empty(when)));
        place(into, sender, baseline, payload);
        if (open.size <= OPEN_INTEGRATIONS) continue;
        const oldest = Math.min(...open.keys());
        for (; next < oldest; next++) yield empty(next);
        const finished = open.get(next++);
        open.delete(oldest);
        if (finished) yield finished;
      }
    }
    for (; next < integrationCount; next++) yield open.get(next) ?? empty(next);
  }
  const start = instantOfTag(span.first);
  return {
    kind: 'visibilities',
    path,
    format: 'lwa',
    telescope,
    details: {
      mode: 'COR',
      frames: Math.floor(file.sizeBytes / shape.frameBytes),
      frameBytes: shape.frameBytes,
      channelsPerFrame: perFrame,
      firstChannels: groups,
      integrationS: durationS,
      firstTimeTag: String(span.first),
      tally,
    },
    header: {
      telescope,
      polarisations: POLARISATIONS,
      frequenciesHz,
      channelWidthHz: CHANNEL_WIDTH_HZ,
      phaseCentre: skyFrame(telescope.site, start).zenith,
      object: 'zenith',
      feedFrame: 'feeds',
      history: [`read from LWA COR frames`],
    },
    integrationCount,
    integrations,
    close: () => file.close(),
  };
}
