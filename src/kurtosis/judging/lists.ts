/** Lists of cells, places in [w][c][a], ascending. */

/** Who offends, and how; the room is kept from block to block. */
export class CellList {
  private places = new Int32Array(0);
  private codes = new Uint8Array(0);
  private count = 0;

  /** For so many at the most. */
  clear(most: number): void {
    if (this.places.length < most) {
      this.places = new Int32Array(most);
      this.codes = new Uint8Array(most);
    }
    this.count = 0;
  }

  add(place: number, code: number): void {
    this.places[this.count] = place;
    this.codes[this.count++] = code;
  }

  copy(): { readonly places: Int32Array; readonly codes: Uint8Array } {
    return { places: this.places.slice(0, this.count), codes: this.codes.slice(0, this.count) };
  }
}

/** All but those of some windows, ascending, of so many cells each. */
export function withoutWindows(places: Int32Array, cells: number, windows: readonly number[]): Int32Array {
  const kept = new Set(windows);
  return places.filter((place) => !kept.has(Math.floor(place / cells)));
}

/** With the other polarisation of each. */
export function wholeStations(places: Int32Array): Int32Array {
  const both = new Int32Array(2 * places.length);
  let count = 0;
  for (const place of places) {
    const first = place - (place % 2);
    if (count > 0 && both[count - 1] === first + 1) continue;
    both[count++] = first;
    both[count++] = first + 1;
  }
  return both.slice(0, count);
}
