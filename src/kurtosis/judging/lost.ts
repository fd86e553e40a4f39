/** What did not come of a block, to be asked of any cell. The room is kept from block to block, and cleared by what was written. */
import type { Presence } from '../present.js';

export class Lost {
  /** spectra : [w][c][a] that did not come. */
  private spectra = new Uint32Array(0);
  private last: Presence | undefined;

  /** Of a block of so many cells; undefined where all came. */
  of(presence: Presence | undefined, cells: number): Uint32Array | undefined {
    if (this.last) for (const place of this.last.places) this.spectra[place] = 0;
    this.last = presence;
    if (!presence) return undefined;
    if (this.spectra.length < cells) this.spectra = new Uint32Array(cells);
    const { places, lost } = presence;
    for (let n = 0; n < places.length; n++) this.spectra[places[n]] = lost[n];
    return this.spectra;
  }
}
