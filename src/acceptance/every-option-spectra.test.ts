/** Every option and every pair of options for channelised data: see every-option.ts. */
import { everyOption } from './every-option.js';

everyOption('spectra');
