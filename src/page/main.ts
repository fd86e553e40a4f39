/** Entry point of the page. */
import { takeToken } from './token.js';
import './app.js';
import { open } from './wire.js';

takeToken();
open();
