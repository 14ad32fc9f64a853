package compare

import "slices"

// holm adjusts p-values that are judged together, so that the chance of claiming any change where there is none is at most
// the rate that they are held against (S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
// Statistics 6, 1979, 65-70): the smallest is multiplied by their number, the next by one less, and so on; none is
// below a smaller one. They may depend on each other in any way, as latencies of one run do.
func holm(p []*float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case *p[a] < *p[b]:
			return -1
		case *p[a] > *p[b]:
			return 1
		}
		return 0
	})
	adjusted, least := make([]float64, len(p)), 0.0
	for rank, i := range order {
		least = max(least, min(1, *p[i]*float64(len(p)-rank)))
		adjusted[i] = least
	}
	return adjusted
}
