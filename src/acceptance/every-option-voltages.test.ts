/** Every option and every pair of them, of voltages: see every-option.ts. */
import { everyOption } from './every-option.js';

everyOption('voltages');
