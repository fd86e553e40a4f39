/** Sums of powers in C++ (kurtosis.cpp), over the block where it lies, or from those that lie beside it already. */
import type { NativeCall } from '../../backend/cpu/context.js';
import type { CpuBackend } from '../../backend/cpu/cpu.js';
import { cpuSpectra, spectraTypeNumber } from '../../backend/cpu/spectra.js';
import type { SpectraBlock } from '../../core/blocks.js';
import type { Fencing } from '../fences.js';
import type { PowerEngine, Powers } from '../flagger.js';
import type { KurtosisPlan } from '../plan.js';
import { OwnRooms, roomFor, ROOMS, type Room } from './rooms.js';

type Sums = NativeCall<
  [
    type: number,
    channels: number,
    inputs: number,
    capacity: number,
    block: bigint,
    powers: bigint,
    edges: Int32Array,
    windows: number,
    sums: Float64Array,
    fences: number,
    heads: Float64Array,
    tables: Float64Array,
    places: Int32Array,
    realChannels: number,
    flaggedInputs: Uint8Array,
    marks: Uint8Array,
    groupMarks: Uint8Array,
    totals: Float64Array,
  ]
>;
type Zero = NativeCall<
  [
    type: number,
    channels: number,
    inputs: number,
    capacity: number,
    block: bigint,
    edges: Int32Array,
    windows: number,
    taken: Int32Array,
    count: number,
  ]
>;

/** Where nothing is screened. */
const NO_FENCES: Fencing = {
  ...{ edges: new Int32Array(0), fences: [], places: new Int32Array(0) },
  ...{ heads: new Float64Array(0), tables: new Float64Array(0) },
};

export function cpuPowers(plan: KurtosisPlan, { native }: CpuBackend): PowerEngine {
  const { channels, inputs } = plan;
  const type = spectraTypeNumber(plan.type);
  const sum: Sums = native.bind(
    'kurtosis',
    'int32_t corella_kurtosis_sums(char *error, void *context, int32_t type, int64_t channels, int64_t inputs, ' +
      'int64_t capacity, const void *block, const void *powers, const int32_t *edges, int64_t windows, ' +
      'double *sums, int64_t fences, const double *heads, const double *tables, const int32_t *places, int64_t realChannels, ' +
      'const uint8_t *flaggedInputs, uint8_t *marks, uint8_t *groupMarks, double *totals)',
  );
  const zero: Zero = native.bind(
    'kurtosis',
    'int32_t corella_kurtosis_zero(char *error, void *context, int32_t type, int64_t channels, int64_t inputs, ' +
      'int64_t capacity, void *block, const int32_t *edges, int64_t windows, const int32_t *taken, int64_t count)',
  );
  const { realChannels, flaggedInputs } = plan;
  const ownRooms = new OwnRooms(plan, native);
  const rooms = Array.from({ length: ROOMS }, () => roomFor(plan, 0));
  let begun = 0;
  /** That of a block that comes again and again; any other's is valid until so many more were begun. */
  const nextRoom = (windows: number): Room => {
    const at = begun++ % ROOMS;
    if (rooms[at].windows < windows) rooms[at] = roomFor(plan, windows);
    return rooms[at];
  };
  const begin = (
    given: SpectraBlock,
    edges: Int32Array,
    fencing: Fencing = NO_FENCES,
  ): (() => Promise<Powers>) => {
    const block = cpuSpectra('kurtosis', given);
    const windows = edges.length - 1;
    const own = ownRooms.of(block);
    const isUnderWay = own?.expect(edges, fencing) === true && block.followedBy === own;
    const { sums, screened } = own?.room ?? nextRoom(windows);
    const { marks, groupMarks, totals } = screened;
    const { fences, heads, tables, places } = fencing;
    const summed =
      own && isUnderWay
        ? undefined
        : sum(
            ...([
              type,
              channels,
              inputs,
              block.shape.capacity,
              block.memory.address,
              // Those that the channeliser made on its way, where there are any; they reach to the block's end.
              (edges[windows] === block.samples ? block.powers?.address : undefined) ?? 0n,
              edges,
              windows,
              sums,
            ] as const),
            ...([fences.length, heads, tables, places, realChannels, flaggedInputs] as const),
            ...([marks, groupMarks, totals] as const),
          );
    // Whoever waits for it is told; a block that was begun and given up is nobody's.
    summed?.catch(() => undefined);
    return async () => {
      await (summed ?? own?.settled());
      return { sums, screened: fencing === NO_FENCES ? undefined : screened };
    };
  };
  return {
    begin,
    mostBegun: ROOMS,
    sums: (given, edges, fencing) => begin(given, edges, fencing)(),
    take: async (given, { edges, taken }, gaps) => {
      const block = cpuSpectra('kurtosis', given);
      await zero(
        ...([type, channels, inputs, block.shape.capacity] as const),
        ...([block.memory.address, edges, edges.length - 1, taken, taken.length] as const),
      );
      block.addGaps(gaps);
    },
    close: () => ownRooms.close(),
  };
}
