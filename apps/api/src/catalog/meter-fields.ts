// What an admin says of a meter, by itself or with the feature that it stands behind.

import { text } from '@weir/shared/text';
import { z } from 'zod';

/** What a quantity counts, such as `requests` or `GB`. */
export const unit = text(1, 64);

/** More of them make no more sense, and every combination of their values is kept by itself. */
const METADATA_KEYS_MAX = 5;

export const metadataKeys = z
  .array(text(1, 64), `must be a list of at most ${METADATA_KEYS_MAX} keys`)
  .max(METADATA_KEYS_MAX, `must have at most ${METADATA_KEYS_MAX} keys`)
  .refine((keys) => new Set(keys).size === keys.length, 'must name each key once')
  .meta({
    uniqueItems: true,
    description: 'Keys of the metadata of events, by whose values usage can be grouped and filtered.',
    examples: [['model', 'region']],
  });
