/** The shared cases on a card; without one all of it is skipped, with a message. */
import { describe, it } from 'node:test';
import { describeCuda, openCuda } from '../../../backend/cuda/cuda.js';
import { turningCases } from '../cases.js';

const presence = describeCuda();

if (!presence.present) {
  it('turning spectra on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe('cuda turner', () => {
    turningCases(() => openCuda());
  });
}
