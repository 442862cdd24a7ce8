// Fields of a meter, sent by themselves or with the feature that it stands behind.

import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';

/** Such as `requests` or `GB`. */
export const unit = text(1, LIMITS.shortText);

export const metadataKeys = z
  .array(text(1, LIMITS.shortText), `must be a list of at most ${LIMITS.meterKeys} keys`)
  .max(LIMITS.meterKeys, `must have at most ${LIMITS.meterKeys} keys`)
  .refine((keys) => new Set(keys).size === keys.length, 'must name each key once')
  .meta({
    uniqueItems: true,
    description: 'Keys of the metadata of events, by whose values usage can be grouped and filtered.',
    examples: [['model', 'region']],
  });
