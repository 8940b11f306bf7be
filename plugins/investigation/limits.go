package investigation

// What one call may take in and give out. What does not fit on the way in is refused whole; an answer that is cut says
// so with "truncated".
const (
	maxCoreBytes = 1 << 20   // core-snapshot.json
	maxJobsBytes = 256 << 10 // jobs-snapshot.json
	maxNodes     = 500       // of one graph
	maxEdges     = 1000      // of one graph
	maxDepth     = 64        // lists and objects in one another, in a snapshot
	maxMatches   = 8         // of one search
	maxLinks     = 32        // edges, and objects at their other ends, of one answer
	maxExcerpt   = 512       // characters of one excerpt
	maxQuery     = 512       // characters of one search's text
	maxKind      = 32        // letters before the colon of an object's id
)
