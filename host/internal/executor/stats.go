package executor

// Stats is how an executor is at one moment.
type Stats struct {
	Name     string
	Size     int   // goroutines
	Queue    int   // tasks that may wait
	Running  int   // tasks that are done now
	Waiting  int   // tasks that wait now
	Rejected int64 // tasks that found no room, since the start
}

// Stats returns how the executor is.
func (e *Executor) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Stats{
		Name: e.cfg.Name, Size: e.cfg.Size, Queue: e.cfg.Queue,
		Running: e.running, Waiting: len(e.queue), Rejected: e.refused,
	}
}
