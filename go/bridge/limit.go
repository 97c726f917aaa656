package bridge

import (
	"context"
	"net"
	"sync"
)

// limit makes a listener that has at most n accepted connections open at once. The next ones wait in the system's queue.
func limit(listener net.Listener, n int) net.Listener {
	return &limited{Listener: listener, slots: make(chan struct{}, n), closed: make(chan struct{})}
}

type limited struct {
	net.Listener
	slots  chan struct{}
	close  sync.Once
	closed chan struct{}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &slot{Conn: conn, places: l.slots}, nil
}

func (l *limited) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// slot is a connection that gives its place back when it is closed.
type slot struct {
	net.Conn
	mu     sync.Mutex
	places chan struct{} // where it has its place; nil once it is closed
}

// move takes a place elsewhere and gives the present one back. It reports whether there was one.
func (s *slot) move(places chan struct{}) bool {
	select {
	case places <- struct{}{}:
	default:
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places == nil {
		<-places
		return true
	}
	<-s.places
	s.places = places
	return true
}

func (s *slot) Close() error {
	err := s.Conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places != nil {
		<-s.places
		s.places = nil
	}
	return err
}

type slotKey struct{}

// withConnection gives a request's context its connection, which [connection] finds.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, slotKey{}, conn)
}

func connection(ctx context.Context) *slot { return ctx.Value(slotKey{}).(*slot) }
