package bridge

import (
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
	return &slot{Conn: conn, free: func() { <-l.slots }}, nil
}

func (l *limited) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// slot is a connection that gives its place back when it is closed.
type slot struct {
	net.Conn
	once sync.Once
	free func()
}

func (s *slot) Close() error {
	err := s.Conn.Close()
	s.once.Do(s.free)
	return err
}
