/** Where sums of powers come out, and whose they are. */
import type { NativeCall, NativeCallHere, NativeContext, NativeHandle } from '../../backend/cpu/context.js';
import { spectraTypeNumber, type CpuSpectraBlock, type Follower } from '../../backend/cpu/spectra.js';
import { areSameEdges } from '../../core/windows.js';
import { ENTRY, type Fencing } from '../fences.js';
import type { KurtosisPlan } from '../plan.js';
import { allocateScreened, type Screened } from '../screen.js';

/** Blocks whose sums may be there at once: two that are to be judged, and one that is made meanwhile. */
export const ROOMS = 3;

/** Native code keeps their addresses (screen.ts). */
export interface Room {
  readonly windows: number;
  readonly sums: Float64Array;
  readonly screened: Screened;
}

export const roomFor = (plan: KurtosisPlan, windows: number): Room => ({
  windows,
  sums: new Float64Array(new ArrayBuffer(16 * windows * plan.channels * plan.inputs)),
  screened: allocateScreened(plan, windows),
});

/** A block's own room, into which threads sum its powers by themselves whenever it is filled (kurtosis_follower.cpp). */
export interface OwnRoom extends Follower {
  readonly room: Room;
  /** From now on; nothing where it is so already. Says whether it was. */
  expect(edges: Int32Array, fencing: Fencing): boolean;
  close(): Promise<void>;
}

/** Blocks that come again have rooms of their own, the first few of them and unless someone else follows them. */
export class OwnRooms {
  private readonly seen = new WeakSet<CpuSpectraBlock>();
  private readonly rooms = new Map<CpuSpectraBlock, OwnRoom>();
  private readonly open: (block: CpuSpectraBlock) => OwnRoom;

  constructor(plan: KurtosisPlan, native: NativeContext) {
    this.open = opener(plan, native);
  }

  of(block: CpuSpectraBlock): OwnRoom | undefined {
    const own = this.rooms.get(block);
    if (own || this.rooms.size === ROOMS || block.follower) return own;
    if (!this.seen.has(block)) {
      this.seen.add(block);
      return undefined;
    }
    const made = this.open(block);
    this.rooms.set(block, made);
    block.follow(made);
    return made;
  }

  async close(): Promise<void> {
    for (const [block, own] of this.rooms) {
      block.follow(undefined);
      await own.close();
    }
    this.rooms.clear();
  }
}

type Expect = NativeCallHere<
  [
    follower: bigint,
    edges: Int32Array,
    windows: number,
    sums: Float64Array,
    fences: number,
    heads: Float64Array,
    entries: number,
    tables: Float64Array,
    places: Int32Array,
    marks: Uint8Array,
    groupMarks: Uint8Array,
    totals: Float64Array,
  ]
>;

function opener(plan: KurtosisPlan, native: NativeContext): (block: CpuSpectraBlock) => OwnRoom {
  const expect: Expect = native.bindHere(
    'kurtosis',
    'int32_t corella_kurtosis_follower_expect(char *error, void *context, void *follower, const int32_t *edges, ' +
      'int64_t windows, double *sums, int64_t fences, const double *heads, int64_t entries, const double *tables, ' +
      'const int32_t *places, uint8_t *marks, uint8_t *groupMarks, double *totals)',
  );
  const wait: NativeCall<[follower: bigint]> = native.bind(
    'kurtosis',
    'int32_t corella_kurtosis_follower_wait(char *error, void *context, void *follower)',
  );
  return (block) => {
    const handle: NativeHandle = native.open(
      'kurtosis',
      'int32_t corella_kurtosis_follower_open(char *error, void *context, int32_t type, int64_t channels, ' +
        'int64_t inputs, int64_t capacity, const void *block, int64_t realChannels, const uint8_t *flaggedInputs, ' +
        '_Out_ void **follower)',
      ...[spectraTypeNumber(plan.type), plan.channels, plan.inputs, block.shape.capacity],
      ...[block.memory.address, plan.realChannels, plan.flaggedInputs],
    );
    let room = roomFor(plan, 0);
    let expected: { readonly edges: Int32Array; readonly fencing: Fencing } | undefined;
    return {
      address: handle.address,
      settled: () => wait(handle.address),
      get room() {
        return room;
      },
      expect: (edges, fencing) => {
        if (expected?.fencing === fencing && areSameEdges(expected.edges, edges)) return true;
        const windows = edges.length - 1;
        const next = room.windows < windows ? roomFor(plan, windows) : room;
        const { sums, screened } = next;
        const { fences, heads, tables, places } = fencing;
        expect(
          ...([handle.address, edges, windows, sums, fences.length, heads] as const),
          ...([tables.length / ENTRY, tables, places] as const),
          ...([screened.marks, screened.groupMarks, screened.totals] as const),
        );
        room = next;
        expected = { edges: edges.slice(), fencing };
        return false;
      },
      close: async () => {
        // Behind whoever still waits.
        await wait(handle.address);
        await handle.close();
      },
    };
  };
}
