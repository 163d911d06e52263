import { mayPass } from '../config/read-file.ts';
import { CommandError } from './platform.ts';

/** A file that cannot be used: 2, unless only its volume does not answer, as another start may help. */
export function fileCommandError(error: Error, message: string = error.message): CommandError {
  return new CommandError(mayPass(error) ? 1 : 2, message, { cause: error });
}
