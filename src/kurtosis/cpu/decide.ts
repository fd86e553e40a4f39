/** Decisions in C++ (decide.cpp), with the same codes as decide.ts. */
import { openContext, type NativeContext } from '../../backend/cpu/context.js';
import { loadNative } from '../../backend/cpu/library.js';
import type { Closable } from '../../core/closing.js';
import type { Decide } from '../flagger.js';
import type { KurtosisPlan } from '../plan.js';
import { HEAD, MEAN } from '../tables.js';

const ALL_CAME = new Uint32Array(0);

/** On another thread; `shares`: the context's threads help, except where they are busy with spectra. */
export function nativeDecide(
  plan: KurtosisPlan,
  native: NativeContext,
  { shares }: { readonly shares: boolean },
): Decide {
  const call = native.bind(
    'kurtosis',
    `int32_t corella_kurtosis_decide(char *error, void *context, int64_t channels, int64_t inputs,
      int64_t polarisations, int64_t realChannels, const uint8_t *options /*[3]*/,
      const uint8_t *flaggedInputs /*[inputs]*/, const int32_t *edges /*[windows + 1]*/,
      int64_t windows, const double *sums /*[windows * channels * inputs * 2]*/,
      const uint32_t *lost /*[missing]*/, int64_t missing, const double *heads, int64_t tables,
      const double *entries, const int32_t *pairs /*[windows * 2]*/,
      const int32_t *byLength /*[lengths * 2]*/, int64_t lengths,
      const double *means, int64_t steps, double sigma,
      uint8_t *codes /*[windows * channels * inputs]*/, uint8_t *bursts /*[windows]*/)`,
  );
  const { channels, inputs, polarisations, realChannels, flaggedInputs } = plan;
  const options = Uint8Array.from([plan.over === 'inputs', plan.bursts === 'keep', shares], Number);
  return (
    { edges, heads, entries, pairs, byLength, means, sigma },
    sums,
    lost = ALL_CAME,
    { codes, bursts },
  ) =>
    call(
      ...([channels, inputs, polarisations, realChannels, options, flaggedInputs] as const),
      ...([edges, edges.length - 1, sums, lost, lost.length, heads, heads.length / HEAD, entries] as const),
      ...([pairs, byLength, byLength.length / 2, means, means.length / MEAN, sigma, codes, bursts] as const),
    );
}

/** For the host of a card. */
const MOST_THREADS = 8;

/** Undefined where there is no native library. Close it. */
export function openHostDecide(plan: KurtosisPlan): (Closable & { readonly decide: Decide }) | undefined {
  const library = loadNative();
  if ('what' in library) return undefined;
  const native = openContext(library, { isa: library.best, threads: Math.min(MOST_THREADS, library.cores) });
  return { decide: nativeDecide(plan, native, { shares: true }), close: () => native.close() };
}
