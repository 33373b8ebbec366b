package com.lsqlrunner.aggregate;

import java.util.Collection;

/**
 * What is kept of a group. The same entries give the same result in any order, and however they were divided into
 * several of these that are then put together.
 */
interface KeptEntries {
  /** Takes an entry in, if it is one to keep; a copy of it where it is only {@code lent}. */
  void offer(Entry entry, boolean lent);

  /** All that is kept: what another one of the same kind needs to go on. */
  Collection<Entry> entries();

  /** The entries of the result, in its order. */
  Collection<Entry> result();
}
